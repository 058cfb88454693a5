// The events an arm page sends, as protocols/schemas/arm-event.schema.json says, and the one place that numbers them.

import type { AdapterFacts, ArmErrorCode, Prepared } from "./arm";

export type Phase = "warmup" | "measure";

export interface PageFacts {
  cross_origin_isolated: boolean;
  visibility: "visible" | "hidden";
  /** Smallest observed tick of performance.now(), in microseconds. */
  timer_quantum_us: number;
  hardware_concurrency: number;
  user_agent: string;
  /** Whether navigator.gpu exists. */
  webgpu: boolean;
  wasm_relaxed_simd: boolean;
  wasm_memory64: boolean;
}

/** Facts about the page and the adapter it would get, read at one moment. */
export interface Facts {
  page: PageFacts;
  /** Absent when requestAdapter gave none. */
  adapter?: AdapterFacts;
}

/** Steps in the order they ran; `first` is the index of the first one within its phase. */
export interface StepBatch {
  phase: Phase;
  first: number;
  wall_ms: number[];
  loss: number[];
  gpu_ms?: number[];
}

export type ArmEventBody =
  | ({ event: "ready"; arms: string[] } & Facts)
  | ({ event: "prepared"; arm: string } & Prepared)
  | ({ event: "steps" } & StepBatch)
  | ({ event: "done"; phase: Phase; steps: number; pipelined_step_ms?: number; gpu_ms?: number[] } & Facts)
  | { event: "error"; code: ArmErrorCode; message: string; phase?: string };

export type ArmEvent = ArmEventBody & { sequence: number };

/** Numbers events from 0 without gaps and hands each on as one JSON text. */
export class EventSender {
  private next_ = 0;

  constructor(private readonly send_: (text: string) => void) {}

  send(body: ArmEventBody): void {
    const event: ArmEvent = { ...body, sequence: this.next_ };
    this.next_ += 1;
    this.send_(JSON.stringify(event));
  }
}
