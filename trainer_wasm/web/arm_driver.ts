// Drives one arm through its phases and times its steps. No worker, no page, no global clock in here: all are given.

import { ArmError, type Arm, type ArmConfig, type Prepared, type StepResult } from "./arm";
import type { Phase, StepBatch } from "./arm_events";
import { StepBatcher } from "./step_batcher";

export interface DriverPorts {
  /** Milliseconds of a monotonic clock; performance.now() in a worker. */
  now(): number;
  /** Called between steps, outside any step's clock. */
  sendSteps(batch: StepBatch): void;
  /** True once the host asked to stop; looked at between steps. */
  abortRequested(): boolean;
}

export interface PhaseResult {
  phase: Phase;
  steps: number;
  pipelined_step_ms?: number;
  /** GPU time of every timed step, where the arm learns it only after the last one. */
  gpu_ms?: number[];
}

type DriverState = "new" | "prepared" | "warm" | "measuring" | "measured";

export class ArmDriver {
  private state_: DriverState = "new";
  private config_: ArmConfig | undefined;
  /** Timed steps since the last reset. */
  private steps_done_ = 0;

  constructor(
    private readonly arm_: Arm,
    private readonly ports_: DriverPorts,
  ) {}

  /** @throws ArmError whatever the arm refuses, or bad-config when called twice. */
  async prepare(config: ArmConfig): Promise<Prepared> {
    if (this.state_ !== "new") throw new ArmError("bad-config", "prepare was called twice on one arm");
    this.config_ = config;
    const prepared = await this.arm_.prepare(config);
    this.state_ = "prepared";
    return prepared;
  }

  /** Runs the configured warm-up steps. Their losses are those of training steps 1, 2, ... and are undone by measure(). */
  async warmup(): Promise<PhaseResult> {
    const config = this.requirePrepared("warmup");
    await this.runSteps("warmup", config.warmup);
    this.state_ = "warm";
    return { phase: "warmup", steps: config.warmup };
  }

  /**
   * Restores the initial state, so that timed step 1 is training step 1, then times the configured steps; with slice_steps
   * only so many of them, and the next call goes on where this one ended. GPU times and throughput come with the last.
   */
  async measure(): Promise<PhaseResult> {
    const config = this.requirePrepared("measure");
    if (this.state_ !== "measuring") {
      await this.arm_.reset();
      this.steps_done_ = 0;
    }
    const count = Math.min(config.slice_steps ?? config.steps, config.steps - this.steps_done_);
    await this.runSteps("measure", count, this.steps_done_);
    this.steps_done_ += count;
    const result: PhaseResult = { phase: "measure", steps: count };
    if (this.steps_done_ < config.steps) {
      this.state_ = "measuring";
      return result;
    }
    const gpu_ms = await this.arm_.gpuTimes?.(config.steps);
    if (gpu_ms !== undefined) result.gpu_ms = gpu_ms;
    const pipelined_steps = config.pipelined_steps ?? 0;
    if (pipelined_steps > 0 && this.arm_.pipelined !== undefined) {
      this.throwIfAborted("measure");
      const { step_ms, losses } = await this.arm_.pipelined(pipelined_steps);
      losses.forEach((loss, index) => requireFinite(loss, `pipelined step ${index + 1}`));
      result.pipelined_step_ms = step_ms;
    }
    this.state_ = "measured";
    return result;
  }

  private requirePrepared(phase: Phase): ArmConfig {
    if (this.config_ === undefined || this.state_ === "new") {
      throw new ArmError("bad-config", `${phase} was asked for before prepare had finished`);
    }
    return this.config_;
  }

  private throwIfAborted(phase: Phase): void {
    if (this.ports_.abortRequested()) throw new ArmError("aborted", `the host aborted the ${phase} phase`);
  }

  private async runSteps(phase: Phase, count: number, done_before = 0): Promise<void> {
    const { now, sendSteps } = this.ports_;
    const batcher = new StepBatcher(phase, now());
    try {
      for (let index = 0; index < count; index += 1) {
        this.throwIfAborted(phase);
        const started = now();
        // A synchronous arm is not awaited: the turn of the microtask queue would be counted as training.
        const pending = this.arm_.step();
        const result: StepResult = isPromise(pending) ? await pending : pending;
        const finished = now();
        requireFinite(result.loss, `${phase} step ${done_before + index + 1}`);
        batcher.add(finished - started, result);
        const batch = batcher.takeIfDue(finished);
        if (batch !== null) sendSteps(batch);
      }
    } finally {
      // On failure too: the steps that did finish are evidence.
      const rest = batcher.take(now());
      if (rest !== null) sendSteps(rest);
    }
  }
}

function isPromise(value: StepResult | Promise<StepResult>): value is Promise<StepResult> {
  return typeof (value as Promise<StepResult>).then === "function";
}

function requireFinite(loss: number, what: string): void {
  if (!Number.isFinite(loss)) throw new ArmError("not-finite", `the loss of ${what} is ${loss}`);
}
