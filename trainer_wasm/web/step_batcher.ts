// Gathers finished steps so that the page hears of them seldom: a message costs time, though never inside a step's clock.

import type { Phase, StepBatch } from "./arm_events";
import type { StepResult } from "./arm";

/** Steps are sent at most this often. */
export const batch_interval_ms = 250;
/** The schema's bound on the steps of one event. */
export const batch_max_steps = 10_000;

export class StepBatcher {
  private first_ = 0;
  private wall_ms_: number[] = [];
  private loss_: number[] = [];
  private gpu_ms_: number[] = [];
  private last_sent_ms_: number;

  constructor(
    private readonly phase_: Phase,
    now_ms: number,
  ) {
    this.last_sent_ms_ = now_ms;
  }

  add(wall_ms: number, result: StepResult): void {
    this.wall_ms_.push(wall_ms);
    this.loss_.push(result.loss);
    if (result.gpu_ms !== undefined) this.gpu_ms_.push(result.gpu_ms);
  }

  /** The batch to send now, or null while the last one is younger than the interval. */
  takeIfDue(now_ms: number): StepBatch | null {
    const due = now_ms - this.last_sent_ms_ >= batch_interval_ms || this.wall_ms_.length >= batch_max_steps;
    return due ? this.take(now_ms) : null;
  }

  /** Everything not yet sent, or null when there is nothing. GPU times are kept only if every step has one. */
  take(now_ms: number): StepBatch | null {
    if (this.wall_ms_.length === 0) return null;
    const batch: StepBatch = { phase: this.phase_, first: this.first_, wall_ms: this.wall_ms_, loss: this.loss_ };
    if (this.gpu_ms_.length === this.wall_ms_.length) batch.gpu_ms = this.gpu_ms_;
    this.first_ += this.wall_ms_.length;
    this.wall_ms_ = [];
    this.loss_ = [];
    this.gpu_ms_ = [];
    this.last_sent_ms_ = now_ms;
    return batch;
  }
}
