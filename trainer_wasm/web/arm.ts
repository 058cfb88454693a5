// What an arm is to the driver that times it. One arm lives in one dedicated worker; nothing else runs there.
// The wire types (ArmConfig, events) mirror protocols/schemas/arm-config.schema.json and arm-event.schema.json.

export interface ModelShape {
  layers: number;
  d_model: number;
  ctx: number;
  batch: number;
  heads: number;
}

export interface ArmConfig {
  schema: "assay.arm-config/1.0";
  arm: string;
  model: ModelShape;
  steps: number;
  warmup: number;
  /** Decimal string: 64 bits do not fit a JSON number. */
  seed: string;
  threads: number;
  corpus: { name: "builtin" } | { url: string; sha256: string };
  /** Steps of the pipelined throughput measurement after the timed ones; 0 leaves it out. */
  pipelined_steps?: number;
  /** A call of measure() ends after so many steps, and the next one goes on; absent: one call times them all. */
  slice_steps?: number;
  /** Test hooks and experiments, all off by default, each recorded in the receipt. */
  options?: {
    repeat_optimizer?: number;
    autotune?: boolean;
    wait?: "map" | "kept-awake";
    subgroup_matrix?: boolean;
  };
}

export interface AdapterFacts {
  vendor: string;
  architecture: string;
  device: string;
  description: string;
  /** Absent when the engine does not say. */
  is_fallback?: boolean;
  subgroup_min_size?: number;
  subgroup_max_size?: number;
  features: string[];
  limits: Record<string, number>;
}

export interface Prepared {
  threads: number;
  weights_sha256: string;
  batches_sha256: string;
  corpus_sha256: string;
  parameters: number;
  /** Milliseconds of each part of the cold start; the names are the arm's own (compile, pipelines, weights, ...). */
  cold_start: Record<string, number>;
  dispatches_per_step?: number;
  /** How the arm waits for a step's end, in words ("synchronous", "map kept awake by error scopes"). */
  wait: string;
  /** The smallest advance that the GPU's clock was seen to make; engines coarsen it. */
  gpu_timestamp_quantum_ns?: number;
  /** Facts about the variant chosen: microkernel, tile shapes, subgroup use. */
  variant: Record<string, string | number | boolean>;
  /** The adapter that the device in use came from, for a GPU arm. */
  adapter?: AdapterFacts;
}

export interface StepResult {
  loss: number;
  gpu_ms?: number;
}

/** A failure with a code that the orchestrator knows; see arm-event.schema.json for the list. */
export class ArmError extends Error {
  constructor(
    readonly code: ArmErrorCode,
    message: string,
  ) {
    super(message);
    this.name = "ArmError";
  }
}

export type ArmErrorCode =
  | "adapter-unavailable"
  | "device-lost"
  | "gpu-validation"
  | "gpu-internal"
  | "out-of-memory"
  | "not-finite"
  | "corpus-mismatch"
  | "unsupported"
  | "bad-config"
  | "aborted"
  | "internal";

/**
 * An arm trains one model. The driver calls prepare once, then step for each warm-up step, reset, step for each timed
 * step, gpuTimes and pipelined (where there are), dispose.
 */
export interface Arm {
  prepare(config: ArmConfig): Promise<Prepared>;
  /**
   * One whole training step: upload the batch, forward, loss, backward, clip, update. Returns, or resolves, when the
   * host holds the loss and the update is known to have finished. The driver's clock runs around this call.
   */
  step(): StepResult | Promise<StepResult>;
  /** Restores initial weights, optimiser state and batch counter. */
  reset(): void | Promise<void>;
  /** Runs `count` steps without waiting for each loss; returns milliseconds a step and the losses. */
  pipelined?(count: number): Promise<{ step_ms: number; losses: number[] }>;
  /** Milliseconds on the GPU of each of the first `count` steps since the last reset, where it is known; asked once they are done. */
  gpuTimes?(count: number): Promise<number[] | undefined>;
  /** The flat parameter vector (or gradient of batch `batchIndex` at the initial weights) read back, for tests. */
  readParameters?(): Promise<Float32Array>;
  readGradients?(batchIndex: number): Promise<{ loss: number; gradients: Float32Array }>;
  dispose(): void;
}
