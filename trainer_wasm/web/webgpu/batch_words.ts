// One batch as the GPU reads it, in one buffer and so one upload a step:
//   words 0, 1      AdamW's bias corrections of this step, f32 bits
//   tokens_at       tokens, then targets
//   order_at        positions sorted by token (ties by position), then 257 starts into that order
// The sort lets the gradient of the embedding be a gather.

import { vocabulary } from "./parameter_layout";

export const beta_1 = 0.9;
export const beta_2 = 0.95;

export interface BatchPlaces {
  tokens_at: number;
  targets_at: number;
  order_at: number;
  starts_at: number;
  words: number;
}

export function layOutBatch(tokens: number): BatchPlaces {
  const tokens_at = 16;
  const order_at = tokens_at + 2 * tokens;
  const starts_at = order_at + tokens;
  return { tokens_at, targets_at: tokens_at + tokens, order_at, starts_at, words: starts_at + vocabulary + 1 };
}

/** Fills `words` for training step `step` (1 is the first). */
export function packBatch(
  words: Uint32Array,
  places: BatchPlaces,
  batch: { tokens: Int32Array; targets: Int32Array },
  step: number,
): void {
  const floats = new Float32Array(words.buffer, words.byteOffset, 2);
  floats[0] = 1 / (1 - beta_1 ** step);
  floats[1] = 1 / (1 - beta_2 ** step);
  words.set(batch.tokens, places.tokens_at);
  words.set(batch.targets, places.targets_at);
  const starts = words.subarray(places.starts_at, places.starts_at + vocabulary + 1);
  starts.fill(0);
  for (const token of batch.tokens) starts[token + 1]! += 1;
  for (let token = 0; token < vocabulary; token += 1) starts[token + 1]! += starts[token]!;
  // Filling moves each start to the next one's place; moving all of them back by one place restores them.
  batch.tokens.forEach((token, position) => {
    words[places.order_at + starts[token]!] = position;
    starts[token]! += 1;
  });
  starts.copyWithin(1, 0, vocabulary);
  starts[0] = 0;
}
