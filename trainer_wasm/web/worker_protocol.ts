// What the page and the arm's worker say to each other.

import type { ArmConfig, ArmErrorCode, Prepared } from "./arm";
import type { PhaseResult } from "./arm_driver";
import type { Phase, StepBatch } from "./arm_events";

export type ToWorker =
  | {
      type: "prepare";
      config: ArmConfig;
      /** Absolute address of the folder that holds wasm/ and shaders/, with a slash at its end. */
      base_url: string;
      /** One Int32: not zero asks for a stop. Absent on a page without shared memory, which ends the worker instead. */
      abort_flag?: SharedArrayBuffer;
    }
  | { type: "run"; phase: Phase }
  | { type: "inspect"; request: InspectRequest };

/** Reads for tests and for the playground's text sample; never between the steps of a phase. */
export type InspectRequest = { what: "parameters" } | { what: "gradients"; batch_index: number };

export interface Inspection {
  values: Float32Array;
  /** The mean loss of the batch, for gradients. */
  loss?: number;
}

export type FromWorker =
  | { type: "prepared"; prepared: Prepared }
  | { type: "steps"; batch: StepBatch }
  | { type: "finished"; result: PhaseResult }
  | { type: "inspected"; inspection: Inspection }
  | { type: "failed"; code: ArmErrorCode; message: string };
