// The page's side of an arm: owns its worker, turns its messages into events, and ends it in bounded time.

import type { ArmConfig } from "./arm";
import type { EventSender, Facts, Phase } from "./arm_events";
import { describeFailure, type Failure } from "./failure";
import type { FromWorker, InspectRequest, Inspection, ToWorker } from "./worker_protocol";

/** How long an aborted arm may take to finish the step it is in before its worker is ended by force. */
export const abort_grace_ms = 2_000;

/** The parts of Worker that are used here, so that tests need no browser. */
export interface WorkerLike {
  postMessage(message: ToWorker): void;
  terminate(): void;
  onmessage: ((event: { data: FromWorker }) => void) | null;
  onerror: ((event: { message?: string; error?: unknown; filename?: string; lineno?: number }) => void) | null;
  onmessageerror: ((event: unknown) => void) | null;
}

export interface HostPorts {
  makeWorker(): WorkerLike;
  events: EventSender;
  readFacts(): Promise<Facts>;
  /** Calls back after so many milliseconds; returns what cancels it. */
  later(delay_ms: number, call: () => void): () => void;
  base_url: string;
  /** Whether the page may share memory with its worker. */
  shared_memory: boolean;
}

type Waiting = { phase: string; resolve: (ok: boolean) => void };

/**
 * Every call resolves to true when its phase succeeded and to false when it did not, and never rejects: the reason of a
 * failure is one `error` event, after which this page can only be asked for prepare again.
 */
export class ArmHost {
  private worker_: WorkerLike | undefined;
  private config_: ArmConfig | undefined;
  private abort_flag_: Int32Array | undefined;
  private waiting_: Waiting | undefined;
  private failed_ = false;
  private cancel_abort_timer_: (() => void) | undefined;
  private inspection_: Inspection | undefined;

  constructor(private readonly ports_: HostPorts) {}

  async prepare(config: ArmConfig): Promise<boolean> {
    if (this.waiting_ !== undefined) return this.refuse("prepare", "another phase is still running");
    this.endWorker();
    this.failed_ = false;
    this.config_ = config;
    try {
      this.worker_ = this.ports_.makeWorker();
    } catch (thrown) {
      this.fail(describeFailure(thrown), "prepare");
      return false;
    }
    this.listen(this.worker_);
    const message: ToWorker = { type: "prepare", config, base_url: this.ports_.base_url };
    if (this.ports_.shared_memory) {
      const buffer = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
      this.abort_flag_ = new Int32Array(buffer);
      message.abort_flag = buffer;
    }
    return this.ask("prepare", message);
  }

  warmup(): Promise<boolean> {
    return this.run("warmup");
  }

  measure(): Promise<boolean> {
    return this.run("measure");
  }

  /** Ends the running phase between two steps, or the worker if that takes too long. One `error` event says "aborted". */
  async abort(): Promise<boolean> {
    const worker = this.worker_;
    if (worker === undefined || this.failed_) return true;
    const phase = this.waiting_?.phase;
    if (phase === undefined || this.abort_flag_ === undefined) {
      this.fail({ code: "aborted", message: "the host aborted the arm" }, phase);
      return true;
    }
    Atomics.store(this.abort_flag_, 0, 1);
    this.cancel_abort_timer_ = this.ports_.later(abort_grace_ms, () => {
      this.fail({ code: "aborted", message: `the host aborted the arm; its step had not ended after ${abort_grace_ms} ms` }, phase);
    });
    return true;
  }

  /** Reads parameters or gradients back, for tests and for the playground. Undefined when the arm could not. */
  async inspect(request: InspectRequest): Promise<Inspection | undefined> {
    this.inspection_ = undefined;
    if (this.worker_ === undefined || this.failed_ || this.waiting_ !== undefined) return undefined;
    const ok = await this.ask("inspect", { type: "inspect", request });
    return ok ? this.inspection_ : undefined;
  }

  /** An error seen by the page itself. */
  failFromPage(thrown: unknown): void {
    this.fail(describeFailure(thrown), this.waiting_?.phase);
  }

  private run(phase: Phase): Promise<boolean> {
    if (this.waiting_ !== undefined) return Promise.resolve(this.refuse(phase, `${this.waiting_.phase} is still running`));
    if (this.failed_) return Promise.resolve(false);
    if (this.worker_ === undefined) return Promise.resolve(this.refuse(phase, "prepare comes first"));
    return this.ask(phase, { type: "run", phase });
  }

  private ask(phase: string, message: ToWorker): Promise<boolean> {
    return new Promise((resolve) => {
      this.waiting_ = { phase, resolve };
      this.worker_?.postMessage(message);
    });
  }

  private refuse(phase: string, why: string): boolean {
    this.fail({ code: "bad-config", message: `${phase} was refused: ${why}` }, phase);
    return false;
  }

  private listen(worker: WorkerLike): void {
    worker.onmessage = (event) => this.receive(event.data);
    worker.onerror = (event) => {
      const where = event.filename ? ` (${event.filename}:${event.lineno ?? 0})` : "";
      const what = event.message || "the arm's worker could not be started or died";
      this.fail({ code: "internal", message: `${what}${where}` }, this.waiting_?.phase);
    };
    worker.onmessageerror = () => {
      this.fail({ code: "internal", message: "a message of the arm's worker could not be read" }, this.waiting_?.phase);
    };
  }

  private receive(message: FromWorker): void {
    if (this.failed_) return;
    switch (message.type) {
      case "prepared":
        this.ports_.events.send({ event: "prepared", arm: this.config_?.arm ?? "", ...message.prepared });
        this.settle(true);
        return;
      case "steps":
        this.ports_.events.send({ event: "steps", ...message.batch });
        return;
      case "finished":
        this.ports_.readFacts().then(
          (facts) => {
            if (this.failed_) return;
            this.ports_.events.send({ event: "done", ...message.result, ...facts });
            this.settle(true);
          },
          (thrown: unknown) => this.fail(describeFailure(thrown), message.result.phase),
        );
        return;
      case "inspected":
        this.inspection_ = message.inspection;
        this.settle(true);
        return;
      case "failed":
        this.fail({ code: message.code, message: message.message }, this.waiting_?.phase);
        return;
    }
  }

  private settle(ok: boolean): void {
    this.cancel_abort_timer_?.();
    this.cancel_abort_timer_ = undefined;
    const waiting = this.waiting_;
    this.waiting_ = undefined;
    waiting?.resolve(ok);
  }

  private fail(failure: Failure, phase: string | undefined): void {
    if (this.failed_) return;
    this.failed_ = true;
    this.ports_.events.send({ event: "error", ...failure, ...(phase === undefined ? {} : { phase }) });
    this.endWorker();
    this.settle(false);
  }

  private endWorker(): void {
    if (this.worker_ === undefined) return;
    this.worker_.onmessage = null;
    this.worker_.onerror = null;
    this.worker_.onmessageerror = null;
    this.worker_.terminate();
    this.worker_ = undefined;
    this.abort_flag_ = undefined;
  }
}
