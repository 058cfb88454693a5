// How long a run will take, from receipts of the same preset and arms.

import type { ReceiptSummary, RunRequest } from "../data/source";
import { median } from "../verify/recompute";

/** Starting a browser, loading the page and making the model, once a block: an order of magnitude, not a measurement. */
const block_overhead_ms = 3_000;

/** Milliseconds, or undefined when no earlier receipt says anything about these arms. */
export function estimateMilliseconds(
  request: Pick<RunRequest, "preset" | "arms" | "steps" | "warmup" | "quadruples">,
  earlier: readonly ReceiptSummary[],
): number | undefined {
  const alike = earlier.filter((receipt) => receipt.preset === request.preset && receipt.arm_a === request.arms[0] && receipt.arm_b === request.arms[1]);
  const a = median(alike.flatMap((receipt) => receipt.a_median_ms ?? []));
  const b = median(alike.flatMap((receipt) => receipt.b_median_ms ?? []));
  if (a === undefined || b === undefined) return undefined;
  return request.quadruples * (2 * (request.steps + request.warmup) * (a + b) + 4 * block_overhead_ms);
}
