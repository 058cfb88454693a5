// Which receipts the comparison is of, as the address has them: a=BASELINE&b=SECOND&more=THIRD,FOURTH.

import { armPair, armPairs } from "../data/matrix";
import type { ReceiptSummary } from "../data/source";
import { addressOf } from "../router";

/** More columns than this nobody reads. */
export const most_compared = 8;

/** The chosen ids, the baseline first, each one once. */
export function comparedIds(query: URLSearchParams): string[] {
  const ids = [query.get("a"), query.get("b"), ...(query.get("more") ?? "").split(",")].filter((id): id is string => id !== null && id !== "");
  return [...new Set(ids)].slice(0, most_compared);
}

export function compareAddress(ids: readonly string[]): string {
  const [a, b, ...more] = ids;
  return addressOf("compare", undefined, { a, b, more: more.join(",") });
}

/** The newest receipt of every machine that has a figure of this preset, all of the pair of arms that most of them have. */
export function newestOfMachines(newest_first: readonly ReceiptSummary[], preset: string): ReceiptSummary[] {
  const candidates = newest_first.filter((receipt) => (receipt.preset || "") === preset && receipt.speedup !== undefined);
  const [pair] = armPairs(candidates);
  const by_machine = new Map<string, ReceiptSummary>();
  for (const receipt of candidates) {
    if (armPair(receipt) === pair && !by_machine.has(receipt.machine_id)) by_machine.set(receipt.machine_id, receipt);
  }
  return [...by_machine.values()].slice(0, most_compared);
}
