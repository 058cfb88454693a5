// Turns whatever was thrown into a code and a sentence, in one place.

import { ArmError, type ArmErrorCode } from "./arm";

export interface Failure {
  code: ArmErrorCode;
  message: string;
}

/** Longest message passed on; a stack of a wasm trap can be very long. */
const max_message_length = 2_000;

export function describeFailure(thrown: unknown): Failure {
  if (thrown instanceof ArmError) return { code: thrown.code, message: shorten(thrown.message) };
  if (thrown instanceof RangeError && /memory|allocat|array buffer/i.test(thrown.message)) {
    return { code: "out-of-memory", message: shorten(thrown.message) };
  }
  if (thrown instanceof Error) return { code: "internal", message: shorten(`${thrown.name}: ${thrown.message}`) };
  return { code: "internal", message: shorten(String(thrown)) };
}

function shorten(text: string): string {
  return text.length <= max_message_length ? text : `${text.slice(0, max_message_length)} ...`;
}
