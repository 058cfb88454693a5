// The inner receipt as the dashboard reads it. Everything that may not have been measured is optional.

export type Evidence = "measured" | "derived" | "observed" | "historical" | "projected" | "not-measured";
export type VerdictResult = "verified" | "unqualified" | "refused" | "inconclusive" | "invalid" | "failed";

export interface Reason {
  code: string;
  message: string;
  facts?: Record<string, string>;
}

export interface StepSample {
  wall_ms: number;
  loss: number;
  gpu_ms?: number;
}

export interface PageAdapter {
  vendor: string;
  architecture: string;
  device: string;
  description: string;
  is_fallback?: boolean;
  features?: string[];
  limits?: Record<string, number>;
}

export interface DevtoolsAdapter {
  devices?: Record<string, string | number>[];
  feature_status?: Record<string, string>;
  aux_attributes?: Record<string, string>;
  [name: string]: unknown;
}

export interface AdapterViews {
  page?: PageAdapter;
  devtools?: DevtoolsAdapter;
}

export type Facts = Record<string, unknown>;

export interface ArmRecord {
  arm: string;
  block: "A" | "B";
  quadruple: number;
  position: number;
  threads?: number;
  adapter_before?: AdapterViews;
  adapter_after?: AdapterViews;
  environment_before?: Facts;
  environment_after?: Facts;
  warmup?: StepSample[];
  steps?: StepSample[];
  cold_start_ms?: number;
  cold_start_parts_ms?: Record<string, number>;
  dispatches_per_step?: number;
  wait?: string;
  pipelined_step_ms?: number;
  median_step_ms?: number;
  final_loss?: number;
  variant?: Record<string, string | number | boolean>;
  phases_ms?: Record<string, number>;
  errors?: string[];
  console?: string[];
}

export interface ModelFacts {
  layers: number;
  d_model: number;
  ctx: number;
  batch: number;
  heads: number;
  parameters?: number;
  flops_per_step?: number;
}

export interface Analysis {
  a_median_ms?: number;
  b_median_ms?: number;
  speedup?: number;
  interval95?: [number, number];
  max_loss_drift?: number;
  repeat_spread?: { a?: number; b?: number };
  quadruples?: number;
  notes?: string[];
  [name: string]: unknown;
}

export interface Receipt {
  schema: string;
  id: string;
  run_id?: string;
  created_at: string;
  evidence: Evidence;
  request: {
    preset?: string;
    steps: number;
    warmup: number;
    arms: string[];
    quadruples: number | Facts | string;
    seed: number | string;
    policy: string;
    corpus: string;
    threads?: number;
    label?: string;
    [name: string]: unknown;
  };
  machine?: Facts;
  browser?: { product?: string; switches?: string[]; [name: string]: unknown };
  environment?: Facts;
  adapter?: AdapterViews;
  inputs?: { weights_sha256?: string; batches_sha256?: string; corpus_sha256?: string; assets?: Record<string, string> };
  model?: ModelFacts;
  plan?: string[];
  arms?: ArmRecord[];
  analysis?: Analysis;
  verdict: { result: VerdictResult; precision?: "interval" | "spread"; reasons?: Reason[] };
  phases_ms?: Record<string, number>;
  chain?: { previous_sha256?: string; sequence: number };
  notes?: string[];
  [name: string]: unknown;
}

/** "A1", "B1", "B2", "A2": the block's letter and which of its two it is within the quadruple. */
export function blockNames(arms: readonly ArmRecord[]): string[] {
  const seen = new Map<string, number>();
  return arms.map((record) => {
    const key = `${record.quadruple}/${record.block}`;
    const nth = (seen.get(key) ?? 0) + 1;
    seen.set(key, nth);
    return `${record.block}${nth}`;
  });
}
