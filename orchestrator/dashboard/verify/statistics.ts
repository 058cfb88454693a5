// Figures of one list of numbers, as orchestrator/analysis/ computes them; docs/method.md states each with its source.

import { upperQuantile } from "./student_t";

/** Fewer quadruples than this give a point and a spread, and no interval. */
export const min_interval_quadruples = 3;
/** Quadruples of the first stage of an automatic run. */
export const first_stage_size = 6;
/** Below so many steps a block says too little about its own autocorrelation. */
const min_autocorrelation_steps = 8;
const outlier_deviations = 5;
const bootstrap_resamples = 10_000;
/** Two-sided 95 %. */
const tail = 0.025;

const is_finite_list = (values: readonly number[]): boolean => values.length > 0 && values.every(Number.isFinite);

/** Mean of the two middle values for an even count; undefined for none and where one is not finite. */
export function median(values: readonly number[]): number | undefined {
  if (!is_finite_list(values)) return undefined;
  const sorted = [...values].sort((x, y) => x - y);
  const middle = sorted.length >> 1;
  const upper = sorted[middle]!;
  if (sorted.length % 2 === 1) return upper;
  const lower = sorted[middle - 1]!;
  return lower + (upper - lower) / 2;
}

export function mean(values: readonly number[]): number | undefined {
  return is_finite_list(values) ? values.reduce((sum, value) => sum + value, 0) / values.length : undefined;
}

/** With n - 1; undefined below two values: one value has no spread, which is not a spread of 0. */
export function standardDeviation(values: readonly number[]): number | undefined {
  const centre = mean(values);
  if (values.length < 2 || centre === undefined) return undefined;
  if (values.every((value) => value === values[0])) return 0;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1));
}

/** Student's two-sided 95 % interval of the mean: of the first `first_stage` values' spread and degrees, all values' mean. */
export function meanInterval(values: readonly number[], first_stage = values.length): [number, number] | undefined {
  const centre = mean(values);
  const deviation = standardDeviation(values.slice(0, first_stage));
  if (centre === undefined || deviation === undefined || values.length < first_stage) return undefined;
  const half = (upperQuantile(tail, first_stage - 1) * deviation) / Math.sqrt(values.length);
  return [centre - half, centre + half];
}

/** Hodges and Lehmann's centre: the median of all (x_i + x_j) / 2 with i <= j. */
export function hodgesLehmann(values: readonly number[]): number | undefined {
  return median(values.flatMap((x, i) => values.slice(i).map((y) => (x + y) / 2)));
}

/** SplitMix64 (Steele, Lea and Flood 2014), the generator of the bootstrap and of the plan. */
export class SeededRandom {
  private state_: bigint;

  constructor(seed: bigint) {
    this.state_ = BigInt.asUintN(64, seed);
  }

  next(): bigint {
    this.state_ = BigInt.asUintN(64, this.state_ + 0x9e3779b97f4a7c15n);
    let z = this.state_;
    z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    return z ^ (z >> 31n);
  }

  /** Uniform in [0, bound) without bias. */
  below(bound: number): number {
    const whole = 0xffffffffffffffffn;
    const divisor = BigInt(bound);
    const limit = whole - (whole % divisor);
    let value = this.next();
    while (value >= limit) value = this.next();
    return Number(value % divisor);
  }
}

/** The percentile interval of the mean over seeded resamples of whole values; undefined below three. */
export function bootstrapInterval(values: readonly number[], seed: bigint): [number, number] | undefined {
  if (values.length < min_interval_quadruples || !is_finite_list(values)) return undefined;
  const random = new SeededRandom(seed ^ 0x426f6f7473747261n);
  const means = Array.from({ length: bootstrap_resamples }, () => {
    let sum = 0;
    for (let i = 0; i < values.length; i += 1) sum += values[random.below(values.length)]!;
    return sum / values.length;
  }).sort((x, y) => x - y);
  const low = Math.floor(((1 - 0.95) / 2) * (bootstrap_resamples - 1));
  return [means[low]!, means[means.length - 1 - low]!];
}

/** Of lag 1 of the logarithms, with Kendall's correction; undefined for short and for constant lists. */
export function autocorrelation(times: readonly number[]): number | undefined {
  if (times.length < min_autocorrelation_steps || times.every((time) => time === times[0])) return undefined;
  const values = times.map(Math.log);
  const centre = mean(values);
  if (centre === undefined) return undefined;
  let squares = 0;
  let products = 0;
  values.forEach((value, i) => {
    squares += (value - centre) ** 2;
    if (i > 0) products += (value - centre) * (values[i - 1]! - centre);
  });
  if (!(squares > 0)) return undefined;
  const corrected = ((products / squares) * values.length + 1) / (values.length - 3);
  return Math.min(Math.max(corrected, -0.99), 0.99);
}

/** n (1 - r) / (1 + r), between 1 and n. */
export function effectiveCount(count: number, correlation: number): number {
  return Math.min(Math.max((count * (1 - correlation)) / (1 + correlation), Math.min(1, count)), count);
}

/** How many times lie further from their median than five scaled median absolute deviations, on the log scale. */
export function countOutliers(times: readonly number[]): number {
  const values = times.map(Math.log);
  const centre = median(values);
  if (centre === undefined) return 0;
  const deviations = values.map((value) => Math.abs(value - centre));
  const scale = Math.max(1.4826 * median(deviations)!, 1e-3);
  return deviations.filter((deviation) => deviation > outlier_deviations * scale).length;
}

/** How many quadruples a request asks for. */
export type QuadruplePlan = { automatic: false; count: number } | { automatic: true; bound: number; half_width: number };

export function quadruplePlan(asked: unknown): QuadruplePlan {
  if (typeof asked === "number") return { automatic: false, count: asked };
  if (asked === undefined) return { automatic: false, count: 1 };
  const rule = typeof asked === "object" && asked !== null ? (asked as { auto?: { bound?: number; half_width?: number } }).auto : undefined;
  return { automatic: true, bound: rule?.bound ?? 20, half_width: rule?.half_width ?? 0.05 };
}

export function firstStage(plan: QuadruplePlan): number {
  return plan.automatic ? Math.min(first_stage_size, plan.bound) : plan.count;
}

/** Stein's two-stage rule: how many quadruples the first stage's spread asks for, and how many the bound lets it have. */
export function decideQuadruples(plan: QuadruplePlan & { automatic: true }, first_stage: readonly number[]): { quadruples: number; wanted: number } {
  const deviation = standardDeviation(first_stage);
  if (deviation === undefined) return { quadruples: plan.bound, wanted: plan.bound };
  const ratio = (upperQuantile(tail, first_stage.length - 1) * deviation) / Math.asinh(plan.half_width);
  const wanted = Math.max(first_stage.length, Math.ceil(ratio * ratio));
  return { quadruples: Math.min(wanted, plan.bound), wanted };
}
