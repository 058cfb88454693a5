// Every figure of a receipt's analysis computed anew from its raw samples (a block is the unit, not a step).

import type { Analysis, ArmRecord, Receipt, StepSample } from "../data/receipt";
import { default_seed, seedOf } from "./plan";
import {
  autocorrelation,
  bootstrapInterval,
  countOutliers,
  decideQuadruples,
  effectiveCount,
  firstStage,
  hodgesLehmann,
  mean,
  meanInterval,
  median,
  min_interval_quadruples,
  quadruplePlan,
  standardDeviation,
} from "./statistics";

export { median };

/** The analysis that samples allow; what they do not allow is absent. */
export interface Recomputed extends Analysis {
  interval95?: [number, number];
  quadruples: number;
  repeat_spread: { a?: number; b?: number };
  details: Record<string, number>;
  notes: string[];
}

/** Figures that somebody stated, with no sample behind them. */
export function isPublished(receipt: Receipt): boolean {
  return receipt.evidence !== "measured" && receipt.evidence !== "derived" && (receipt.arms ?? []).length === 0;
}

export function blockMedian(record: ArmRecord): number | undefined {
  return median((record.steps ?? []).map((step) => step.wall_ms));
}

/** Two blocks of A and two of B, each in the order they ran, with the logarithms of their medians. */
interface Quadruple {
  a: [ArmRecord, ArmRecord];
  b: [ArmRecord, ArmRecord];
  log_a: [number, number];
  log_b: [number, number];
  baab: boolean;
}

function quadruplesOf(arms: readonly ArmRecord[]): Quadruple[] {
  const numbers = [...new Set(arms.map((record) => record.quadruple))].sort((x, y) => x - y);
  return numbers.flatMap((number) => {
    const records = arms.filter((record) => record.quadruple === number).sort((x, y) => x.position - y.position);
    const a = records.filter((record) => record.block === "A");
    const b = records.filter((record) => record.block === "B");
    if (records.length !== 4 || a.length !== 2 || b.length !== 2) return [];
    if (!records.every((record) => (blockMedian(record) ?? 0) > 0)) return [];
    const logs = (of: ArmRecord[]): [number, number] => [Math.log(blockMedian(of[0]!)!), Math.log(blockMedian(of[1]!)!)];
    const one: Quadruple = { a: [a[0]!, a[1]!], b: [b[0]!, b[1]!], log_a: logs(a), log_b: logs(b), baab: records[0]!.block === "B" };
    return [one];
  });
}

const logRatio = ({ log_a, log_b }: Quadruple): number => (log_a[0] + log_a[1] - log_b[0] - log_b[1]) / 2;

/** ln of the speed-up of each complete quadruple, in order. */
export function logRatios(receipt: Receipt): number[] {
  return quadruplesOf(receipt.arms ?? []).map(logRatio);
}

const driftPerBlock = ({ log_a, log_b }: Quadruple): number => (log_a[1] - log_a[0] + log_b[1] - log_b[0]) / 4;

function carryOver(one: Quadruple): number {
  const change_a = one.log_a[1] - one.log_a[0];
  const change_b = one.log_b[1] - one.log_b[0];
  return (one.baab ? change_a - change_b : change_b - change_a) + 2 * driftPerBlock(one);
}

/** The figures that samples allow; what they do not allow is absent. */
export function recompute(receipt: Receipt): Recomputed {
  const arms = receipt.arms ?? [];
  const quadruples = quadruplesOf(arms);
  const result: Recomputed = { quadruples: quadruples.length, repeat_spread: {}, details: {}, notes: [] };
  const drift = largestDrift(arms);
  if (drift !== undefined) result.max_loss_drift = drift;
  if (quadruples.length === 0) {
    result.notes.push("no quadruple is complete: no ratio");
    return result;
  }
  const d = quadruples.map(logRatio);
  const centre = mean(d)!;
  // Geometric means of the block medians, so that their quotient is exactly the speed-up.
  result.a_median_ms = Math.exp(mean(quadruples.flatMap(({ log_a }) => log_a))!);
  result.b_median_ms = Math.exp(mean(quadruples.flatMap(({ log_b }) => log_b))!);
  result.speedup = Math.exp(centre);
  result.repeat_spread.a = Math.max(...quadruples.map(({ log_a }) => Math.abs(log_a[0] - log_a[1])));
  result.repeat_spread.b = Math.max(...quadruples.map(({ log_b }) => Math.abs(log_b[0] - log_b[1])));
  result.details["mean_log_ratio"] = centre;
  const deviation = standardDeviation(d);
  if (deviation !== undefined) result.details["log_ratio_sd"] = deviation;
  addStepDetails(quadruples, result);
  addQuadrupleDetails(quadruples, d, seedOf(receipt.request.seed) ?? default_seed, result);
  addInterval(receipt, d, result);
  return result;
}

function addInterval(receipt: Receipt, d: readonly number[], result: Recomputed): void {
  if (d.length < min_interval_quadruples) {
    result.notes.push(`${d.length} ${d.length === 1 ? "quadruple" : "quadruples"}: a point and a spread, no interval`);
    return;
  }
  const plan = quadruplePlan(receipt.request.quadruples);
  if (plan.automatic) {
    const first = firstStage(plan);
    if (d.length < first) return;
    const decision = decideQuadruples(plan, d.slice(0, first));
    result.details["first_stage_quadruples"] = first;
    result.details["quadruples_wanted"] = decision.wanted;
    if (decision.wanted > decision.quadruples)
      result.notes.push(`the bound of ${plan.bound} quadruples was met before the half-width asked for`);
  }
  const interval = meanInterval(d, plan.automatic ? firstStage(plan) : d.length);
  if (interval === undefined) return;
  const [low, high] = [Math.exp(interval[0]), Math.exp(interval[1])];
  result.interval95 = [low, high];
  result.details["interval_half_width"] = (high - low) / (2 * result.speedup!);
  if (interval[0] === interval[1]) result.notes.push("every quadruple gave the same ratio: the interval has no width");
}

/** What the steps within the blocks look like: shown, in no figure above. */
function addStepDetails(quadruples: readonly Quadruple[], result: Recomputed): void {
  for (const side of ["a", "b"] as const) {
    const blocks = quadruples
      .flatMap((one) => one[side].map((record) => record.steps!.map((step) => step.wall_ms)))
      .filter((times) => Math.min(...times) > 0);
    const outliers = blocks.reduce((sum, times) => sum + countOutliers(times), 0);
    const correlations = blocks.flatMap((times) => {
      const correlation = autocorrelation(times);
      return correlation === undefined ? [] : [{ correlation, effective: effectiveCount(times.length, correlation) }];
    });
    result.details[`outlier_steps_${side}`] = outliers;
    if (correlations.length > 0) {
      result.details[`autocorrelation_${side}`] = mean(correlations.map(({ correlation }) => correlation))!;
      result.details[`effective_steps_${side}`] = mean(correlations.map(({ effective }) => effective))!;
    }
    const steps = blocks.reduce((sum, times) => sum + times.length, 0);
    if (outliers > 0)
      result.notes.push(`${outliers} of ${steps} steps of ${side.toUpperCase()} lie far from their block's median; none was left out`);
  }
}

function addQuadrupleDetails(quadruples: readonly Quadruple[], d: readonly number[], seed: bigint, result: Recomputed): void {
  const carried = quadruples.map(carryOver);
  result.details["drift_per_block"] = mean(quadruples.map(driftPerBlock))!;
  result.details["carry_over"] = mean(carried)!;
  if (d.length < min_interval_quadruples) return;
  result.details["hodges_lehmann"] = Math.exp(hodgesLehmann(d)!);
  const bootstrap = bootstrapInterval(d, seed)!;
  result.details["bootstrap95_low"] = Math.exp(bootstrap[0]);
  result.details["bootstrap95_high"] = Math.exp(bootstrap[1]);
  const interval = meanInterval(carried)!;
  result.details["carry_over95_low"] = interval[0];
  result.details["carry_over95_high"] = interval[1];
  if (interval[0] > 0 || interval[1] < 0)
    result.notes.push(
      "A before B and A after B differ by more than chance explains: one arm may leave the machine in another state than the other, or drift bends",
    );
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
