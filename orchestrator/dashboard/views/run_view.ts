// One run, watched live: state, arm, step times as they appear, loss, log; cancel.

import { html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { customElement, state } from "lit/decorators.js";
import "../components/chart_figure";
import { runStateMark } from "../components/run_state";
import { whenReady } from "../components/states";
import { verdictMark } from "../components/verdict";
import { factList } from "../components/figures";
import { View } from "../components/view";
import type { ApiSource } from "../data/api_source";
import { LiveQuery } from "../data/live_query";
import type { VerdictResult } from "../data/receipt";
import { applyEvent, emptyPicture, progressOf, RunEvents, type RunPicture } from "../data/run_events";
import type { Run, RunState } from "../data/source";
import { count, duration, loss, moment } from "../format";
import { addressOf } from "../router";

const refresh_ms = 5_000;
/** A heading of more characters than this is set smaller. */
const long_title = 60;

@customElement("assay-run-view")
export class RunView extends View {
  @state() private picture_: RunPicture = emptyPicture();
  @state() private connected_ = true;
  @state() private cancel_words_ = "";
  private events_: RunEvents | undefined;
  private followed_: string | undefined;

  private readonly run_ = new LiveQuery<Run>(this, (signal) => this.api().run(this.route.id!, signal), refresh_ms);

  private api(): ApiSource {
    return this.source as ApiSource;
  }

  protected override willUpdate(_changed: PropertyValues): void {
    const id = this.route.id!;
    this.run_.for(id);
    if (this.followed_ === id) return;
    this.followed_ = id;
    this.events_?.close();
    this.picture_ = emptyPicture();
    this.cancel_words_ = "";
    this.events_ = new RunEvents(
      this.api().runEventsAddress(id),
      (kind, data) => {
        this.picture_ = applyEvent(this.picture_, kind, data);
        if (kind === "done") this.run_.refresh();
      },
      (connected) => {
        this.connected_ = connected;
      },
    );
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.events_?.close();
    this.followed_ = undefined;
  }

  protected override render(): TemplateResult {
    return whenReady(this.run_, "the run", (run) => this.renderRun(run), `Run ${this.route.id}`);
  }

  private renderRun(run: Run): TemplateResult {
    const over = run.state !== "queued" && run.state !== "running";
    const state = (over ? run.state : (this.picture_.state ?? run.state)) as RunState;
    const phase = this.picture_.phase ?? run.phase;
    const receipt_id = run.receipt_id ?? this.picture_.receipt_id;
    const { request } = run;
    const name = run.label ?? `Run of ${request?.preset ?? "a custom size"}`;
    return html`<div class="view-head">
        <div>
          <h1 class=${name.length > long_title ? "long-title" : nothing}>${name}</h1>
          <p>${(request?.arms ?? []).join(" against ")} · asked for ${moment(run.created_at)} · <code>${run.id}</code></p>
        </div>
        <div class="actions">
          ${receipt_id === undefined ? nothing : html`<a class="button" href=${this.href(addressOf("receipts", receipt_id))}>Open the receipt</a>`}
          ${over ? nothing : html`<button class="danger" @click=${this.cancel}>Cancel run</button>`}
        </div>
      </div>
      <div class="sheet stack">
        <p aria-live="polite">
          ${runStateMark(phase === undefined ? { state } : { state, phase })}
          ${this.picture_.verdict === undefined ? nothing : verdictMark(this.picture_.verdict as VerdictResult)} ${this.cancel_words_}
        </p>
        ${over ? nothing : this.renderProgress(state)}
        ${run.error === undefined ? nothing : html`<p class="failed">${run.error}</p>`}
        ${over || this.connected_ ? nothing : html`<p class="absent">Live events are interrupted; connecting again.</p>`}
        ${this.picture_.missed === 0 ? nothing : html`<p class="absent">${this.picture_.missed} earlier events were no longer kept; the receipt has every step.</p>`}
      </div>
      ${this.renderSteps()}
      <section class="section">
        <h2>Log</h2>
        ${this.picture_.log.length === 0
          ? html`<p class="absent">${over ? "No line is kept any more; the receipt has the errors and console lines." : "Nothing was said yet."}</p>`
          : html`<pre class="log" tabindex="0" role="log" aria-label="Log of the run">${this.picture_.log.join("\n")}</pre>`}
      </section>
      <section class="section">
        <h2>Request</h2>
        ${factList(request)}
      </section>`;
  }

  private renderProgress(state: RunState): TemplateResult {
    const { arm_index, arm_count, arm, asked, blocks } = this.picture_;
    if (state === "queued") return html`<p>Waiting for its turn: one measurement runs at a time.</p>`;
    const done = blocks[arm_index]?.steps.length ?? 0;
    const where = arm_count === 0 ? "Starting" : `Block ${arm_index + 1} of ${arm_count}: ${arm ?? ""}, ${count(done)} of ${asked === undefined ? "?" : count(asked)} steps`;
    return html`<label>${where}<progress max="1" .value=${progressOf(this.picture_)}></progress></label>`;
  }

  private renderSteps(): TemplateResult | typeof nothing {
    const blocks = this.picture_.blocks.filter((block) => block !== undefined);
    if (blocks.length === 0) return nothing;
    const total = blocks.reduce((sum, block) => sum + block.steps.length, 0);
    const last = blocks.at(-1)!;
    const newest = last.steps.at(-1) ?? last.warmup.at(-1);
    return html`<section class="section">
      <h2>Steps so far</h2>
      <assay-chart
        heading="Step times as they arrive"
        description=${`One column a block: rings are warm-up steps, dots are timed ones. The newest step of ${last.arm} took ${duration(newest?.wall_ms)} at loss ${loss(newest?.loss)}.`}
        .version=${`${blocks.length} ${total}`}
        .draw=${async (width: number) => (await import("../charts/live_plot")).liveSteps(this.picture_.blocks, width)}
        .table=${this.renderTable()}
      ></assay-chart>
    </section>`;
  }

  private renderTable(): TemplateResult {
    return html`<table>
      <thead>
        <tr>
          <th scope="col">block</th>
          <th scope="col">arm</th>
          <th scope="col" class="number">warm-up steps</th>
          <th scope="col" class="number">timed steps</th>
          <th scope="col" class="number">newest step</th>
          <th scope="col" class="number">newest loss</th>
        </tr>
      </thead>
      <tbody>
        ${this.picture_.blocks.map(
          (block, index) =>
            html`<tr>
              <th scope="row">${index + 1}</th>
              <td class="long">${block.arm}</td>
              <td class="number">${block.warmup.length}</td>
              <td class="number">${block.steps.length}</td>
              <td class="number">${duration(block.steps.at(-1)?.wall_ms)}</td>
              <td class="number">${loss(block.steps.at(-1)?.loss)}</td>
            </tr>`,
        )}
      </tbody>
    </table>`;
  }

  private async cancel(): Promise<void> {
    this.cancel_words_ = "Asking it to stop …";
    try {
      await this.api().cancelRun(this.route.id!);
      this.cancel_words_ = "It was asked to stop.";
      this.run_.refresh();
    } catch (thrown) {
      this.cancel_words_ = thrown instanceof Error ? thrown.message : "It could not be asked to stop.";
    }
  }
}
