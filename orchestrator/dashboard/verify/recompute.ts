// Every figure of a receipt's analysis computed anew from its raw samples (DESIGN: a block is the unit, not a step).

import type { ArmRecord, Receipt, StepSample } from "../data/receipt";
import type { Check } from "./envelope";
import { upperQuantile } from "./student_t";

/** Largest relative difference between a stated and a recomputed figure that rounding may explain. */
const tolerance = 1e-9;
/** Figures below this are compared as if they were this large: differences of logarithms carry their rounding. */
const smallest_scale = 1e-3;
/** Fewer quadruples than this give a point and a spread, and no interval. */
const min_interval_quadruples = 3;

export interface Recomputed {
  a_median_ms?: number;
  b_median_ms?: number;
  speedup?: number;
  interval95?: [number, number];
  max_loss_drift?: number;
  repeat_spread: { a?: number; b?: number };
}

/** Mean of the two middle values for an even count; undefined for none. */
export function median(values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined;
  const sorted = [...values].sort((x, y) => x - y);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function blockMedian(record: ArmRecord): number | undefined {
  return median((record.steps ?? []).map((step) => step.wall_ms));
}

interface Quadruple {
  a: [ArmRecord, ArmRecord];
  b: [ArmRecord, ArmRecord];
}

function quadruplesOf(arms: readonly ArmRecord[]): Quadruple[] {
  const by_number = new Map<number, ArmRecord[]>();
  for (const record of arms) by_number.set(record.quadruple, [...(by_number.get(record.quadruple) ?? []), record]);
  return [...by_number.values()].flatMap((records) => {
    const a = records.filter((record) => record.block === "A");
    const b = records.filter((record) => record.block === "B");
    const whole = [...a, ...b].every((record) => (blockMedian(record) ?? 0) > 0);
    if (a.length !== 2 || b.length !== 2 || !whole) return [];
    return [{ a: [a[0]!, a[1]!], b: [b[0]!, b[1]!] } satisfies Quadruple];
  });
}

/** The figures that samples allow; what they do not allow is absent. */
export function recompute(receipt: Receipt): Recomputed {
  const arms = receipt.arms ?? [];
  const result: Recomputed = { repeat_spread: {} };

  const quadruples = quadruplesOf(arms);
  if (quadruples.length > 0) {
    const logs = quadruples.map(({ a, b }) => ({ a: a.map(logMedian), b: b.map(logMedian) }));
    const d = logs.map(({ a, b }) => (a[0]! + a[1]! - b[0]! - b[1]!) / 2);
    const centre = mean(d);
    // Geometric means of the block medians, so that their quotient is exactly the speed-up.
    result.a_median_ms = Math.exp(mean(logs.flatMap(({ a }) => a)));
    result.b_median_ms = Math.exp(mean(logs.flatMap(({ b }) => b)));
    result.speedup = Math.exp(centre);
    result.repeat_spread.a = Math.max(...logs.map(({ a }) => Math.abs(a[0]! - a[1]!)));
    result.repeat_spread.b = Math.max(...logs.map(({ b }) => Math.abs(b[0]! - b[1]!)));
    if (d.length >= min_interval_quadruples) {
      const variance = d.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (d.length - 1);
      const half_width = upperQuantile(0.025, d.length - 1) * Math.sqrt(variance / d.length);
      result.interval95 = [Math.exp(centre - half_width), Math.exp(centre + half_width)];
    }
  }
  const drift = largestDrift(arms);
  if (drift !== undefined) result.max_loss_drift = drift;
  return result;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function logMedian(record: ArmRecord): number {
  return Math.log(blockMedian(record)!);
}

/** The k-th A and the k-th B block of each quadruple: the pairs whose losses are compared. */
export function blockPairs(arms: readonly ArmRecord[]): { a: ArmRecord; b: ArmRecord }[] {
  const ran = arms.filter((record) => (record.steps ?? []).length > 0);
  const numbers = [...new Set(ran.map((record) => record.quadruple))];
  return numbers.flatMap((quadruple) => {
    const side = (block: "A" | "B"): ArmRecord[] => ran.filter((record) => record.quadruple === quadruple && record.block === block);
    const b = side("B");
    return side("A").flatMap((record, index) => (b[index] === undefined ? [] : [{ a: record, b: b[index] }]));
  });
}

/** Largest difference of the losses at the same step, over all pairs; undefined without pairs or with a loss not finite. */
function largestDrift(arms: readonly ArmRecord[]): number | undefined {
  const drifts = blockPairs(arms).flatMap(({ a, b }) => stepDrifts(a.steps ?? [], b.steps ?? []));
  if (drifts.length === 0 || drifts.some((drift) => !Number.isFinite(drift))) return undefined;
  return drifts.reduce((largest, drift) => Math.max(largest, drift), 0);
}

/** |x - y| / max(|x|, |y|) of the losses, step by step. */
export function stepDrifts(a: readonly StepSample[], b: readonly StepSample[]): number[] {
  return Array.from({ length: Math.min(a.length, b.length) }, (_, index) => {
    const x = a[index]!.loss;
    const y = b[index]!.loss;
    const scale = Math.max(Math.abs(x), Math.abs(y));
    return scale === 0 ? 0 : Math.abs(x - y) / scale;
  });
}

/** One check a figure: is what the receipt states what its samples give? */
export function checkFigures(receipt: Receipt): Check[] {
  const stated = receipt.analysis ?? {};
  const found = recompute(receipt);
  const checks: Check[] = [
    compareFigure("median of A", stated.a_median_ms, found.a_median_ms),
    compareFigure("median of B", stated.b_median_ms, found.b_median_ms),
    compareFigure("speed-up", stated.speedup, found.speedup),
    compareFigure("interval, low end", stated.interval95?.[0], found.interval95?.[0]),
    compareFigure("interval, high end", stated.interval95?.[1], found.interval95?.[1]),
    compareFigure("loss drift", stated.max_loss_drift, found.max_loss_drift),
    compareFigure("spread of A", stated.repeat_spread?.a, found.repeat_spread.a),
    compareFigure("spread of B", stated.repeat_spread?.b, found.repeat_spread.b),
  ].flatMap((check) => check ?? []);
  (receipt.arms ?? []).forEach((record, index) => {
    const check = compareFigure(`median of block ${index + 1}`, record.median_step_ms, blockMedian(record));
    if (check?.outcome === "failed") checks.push(check);
  });
  return checks;
}

/** A figure that neither side has is no check; one that only the receipt has cannot have come from its samples. */
function compareFigure(name: string, stated: number | undefined, found: number | undefined): Check | undefined {
  if (stated === undefined) return undefined;
  if (found === undefined) return { name, outcome: "failed", detail: `The receipt states ${stated}, but its samples give no such figure.` };
  const agrees = Math.abs(stated - found) <= tolerance * Math.max(Math.abs(stated), Math.abs(found), smallest_scale);
  return agrees
    ? { name, outcome: "passed", detail: `${found.toPrecision(6)} from the raw samples, as stated.` }
    : { name, outcome: "failed", detail: `The receipt states ${stated}; its samples give ${found}.` };
}
