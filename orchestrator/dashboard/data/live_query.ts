// A question to the server that a view keeps asking: loading, value, problem, and what is shown meanwhile.

import type { ReactiveController, ReactiveControllerHost } from "lit";
import { Problem, unreachable } from "./problem";

/** Pauses before another try when the server is away: doubled each time, up to the bound. */
const first_retry_ms = 1_000;
const longest_retry_ms = 15_000;

export class LiveQuery<T> implements ReactiveController {
  value: T | undefined;
  problem: Problem | undefined;
  loading = false;

  private key_: string | undefined;
  private abort_: AbortController | undefined;
  private timer_: ReturnType<typeof setTimeout> | undefined;
  private retry_ms_ = first_retry_ms;

  /**
   * @param ask the question; its signal ends when the view goes away or asks anew
   * @param poll_ms asks again this long after each answer; absent: only when the key changes
   */
  constructor(
    private readonly host_: ReactiveControllerHost,
    private readonly ask_: (signal: AbortSignal) => Promise<T>,
    private readonly poll_ms_?: number,
  ) {
    host_.addController(this);
  }

  /** Asks when `key` differs from the last one; the old value is dropped, since it answers another question. */
  for(key: string): void {
    if (key === this.key_) return;
    this.key_ = key;
    this.value = undefined;
    this.problem = undefined;
    this.refresh();
  }

  refresh(): void {
    this.stop();
    this.abort_ = new AbortController();
    this.loading = true;
    void this.run(this.abort_.signal);
    this.host_.requestUpdate();
  }

  hostDisconnected(): void {
    this.stop();
    this.key_ = undefined;
  }

  private stop(): void {
    this.abort_?.abort();
    clearTimeout(this.timer_);
  }

  private async run(signal: AbortSignal): Promise<void> {
    try {
      const value = await this.ask_(signal);
      if (signal.aborted) return;
      this.value = value;
      this.problem = undefined;
      this.retry_ms_ = first_retry_ms;
      if (this.poll_ms_ !== undefined) this.later(this.poll_ms_);
    } catch (thrown) {
      if (signal.aborted) return;
      this.problem = thrown instanceof Problem ? thrown : unreachable(thrown);
      // What the server refused it will refuse again; only an absent or overloaded one is asked anew.
      if (this.problem.unreachable || this.problem.status >= 500 || this.problem.status === 429) {
        this.later(this.retry_ms_);
        this.retry_ms_ = Math.min(this.retry_ms_ * 2, longest_retry_ms);
      }
    }
    this.loading = false;
    this.host_.requestUpdate();
  }

  private later(delay_ms: number): void {
    this.timer_ = setTimeout(() => this.refresh(), delay_ms);
  }
}
