// Where the views get their data: the server's API, or the files of a static site. One interface for both.

import type { Evidence, Reason, Receipt, VerdictResult } from "./receipt";
import { Problem, problemOf, unreachable } from "./problem";

/** One line of a list of receipts. */
export interface ReceiptSummary {
  id: string;
  run_id?: string;
  machine_id: string;
  machine_name?: string;
  created_at: string;
  preset?: string;
  arm_a: string;
  arm_b: string;
  verdict: VerdictResult;
  evidence: Evidence;
  policy?: string;
  precision?: string;
  speedup?: number;
  interval95?: [number, number];
  a_median_ms?: number;
  b_median_ms?: number;
  max_loss_drift?: number;
  repeat_spread?: { a?: number; b?: number };
  flops_per_step?: number;
  label?: string;
  browser?: string;
  adapter?: string;
  first_reason?: string;
  file_sha256?: string;
}

export interface Page<T> {
  items: T[];
  /** Opaque; asks for the page after this one. Absent on the last. */
  next?: string;
}

export interface ReceiptFilter {
  machine?: string;
  preset?: string;
  verdict?: string;
  evidence?: string;
  label?: string;
  cursor?: string;
  limit?: number;
}

export type RunState = "queued" | "running" | "done" | "failed" | "cancelled" | "interrupted";

export interface Run {
  id: string;
  state: RunState;
  phase?: string;
  request?: Partial<Receipt["request"]>;
  label?: string;
  created_at: string;
  started_at?: string;
  ended_at?: string;
  receipt_id?: string;
  verdict?: VerdictResult;
  error?: string;
  machine_id?: string;
}

export interface RunRequest {
  preset: string;
  steps: number;
  warmup: number;
  arms: [string, string];
  quadruples: number;
  seed?: number;
  policy: string;
  label?: string;
  allow_unqualified?: boolean;
}

export interface Machine {
  id: string;
  name?: string;
  state?: string;
  labels?: string[];
  last_seen?: string;
  facts?: Record<string, unknown>;
  [name: string]: unknown;
}

export interface Preset {
  name: string;
  layers: number;
  d_model: number;
  ctx: number;
  batch: number;
  heads: number;
  parameters?: number;
  flops_per_step?: number;
}

export interface Policy {
  name: string;
  description?: string;
  [name: string]: unknown;
}

export interface Schedule {
  id: string;
  name?: string;
  cron: string;
  time_zone?: string;
  next_due?: string;
  last_fired?: string;
  paused?: boolean;
  labels?: string[];
  [name: string]: unknown;
}

/** One machine's speed-up at one size of model. */
export interface CurvePoint {
  machine_id: string;
  machine_name?: string;
  preset?: string;
  flops_per_step?: number;
  speedup?: number;
  interval95?: [number, number];
  evidence: Evidence;
  verdict?: VerdictResult;
  receipt_id?: string;
  arm_a?: string;
  arm_b?: string;
  created_at?: string;
  label?: string;
}

export interface Difference {
  field: string;
  a?: unknown;
  b?: unknown;
  /** Why the difference matters, in a sentence. */
  why?: string;
  /** Whether this difference alone forbids the comparison. */
  blocks?: boolean;
}

export interface Comparison {
  comparable: boolean;
  reasons: Reason[];
  differences: Difference[];
  ratio?: number;
  ratio_interval?: [number, number];
  /** How much faster the second's A and B are: the first's time over the second's. */
  a_ratio?: number;
  a_ratio_interval?: [number, number];
  b_ratio?: number;
  b_ratio_interval?: [number, number];
  a?: ReceiptSummary;
  b?: ReceiptSummary;
}

export interface TrendPoint {
  receipt_id: string;
  created_at: string;
  verdict: VerdictResult;
  speedup?: number;
  interval95?: [number, number];
  a_median_ms?: number;
  b_median_ms?: number;
}

export interface TrendChange {
  receipt_id: string;
  created_at: string;
  /** Relative size: 0.05 is 5 % up. */
  size: number;
  interval?: [number, number];
  series?: string;
}

export interface Trend {
  points: TrendPoint[];
  /** Absent where nobody looked for changes. */
  changes?: TrendChange[];
}

export interface Source {
  /** Whether runs can be started, watched and cancelled here. */
  readonly live: boolean;
  receipts(filter: ReceiptFilter, signal: AbortSignal): Promise<Page<ReceiptSummary>>;
  /** The signed file's exact text. */
  receiptFile(id: string, signal: AbortSignal): Promise<string>;
  receiptFileAddress(id: string): string;
  curve(signal: AbortSignal): Promise<CurvePoint[]>;
  compare(a: string, b: string, signal: AbortSignal): Promise<Comparison>;
  machines(signal: AbortSignal): Promise<Machine[]>;
  trend(query: { machine: string; preset: string; arm_a?: string; arm_b?: string }, signal: AbortSignal): Promise<Trend>;
}

/** GET of JSON. @throws Problem for every failure, a server that is not there included. */
export async function getJson(address: string, signal: AbortSignal): Promise<unknown> {
  const response = await request(address, { signal, headers: { Accept: "application/json" } });
  try {
    return (await response.json()) as unknown;
  } catch (thrown) {
    throw new Problem(response.status, "The answer is not JSON", thrown instanceof Error ? thrown.message : "");
  }
}

export async function request(address: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(address, init);
  } catch (thrown) {
    if (thrown instanceof DOMException && thrown.name === "AbortError") throw thrown;
    throw unreachable(thrown);
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}
