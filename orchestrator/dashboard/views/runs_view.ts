// Start a run, and the runs that were started.

import { html, nothing, type TemplateResult } from "lit";
import { customElement, state } from "lit/decorators.js";
import { clamped } from "../components/figures";
import { emptyState, whenReady } from "../components/states";
import { runStateMark } from "../components/run_state";
import { View } from "../components/view";
import type { ApiSource } from "../data/api_source";
import { LiveQuery } from "../data/live_query";
import { preset_order } from "../data/presets";
import { Problem, unreachable } from "../data/problem";
import type { Page, Policy, Preset, ReceiptSummary, Run, RunRequest } from "../data/source";
import { absent, ago, duration, flops } from "../format";
import { addressOf } from "../router";
import { estimateMilliseconds } from "./run_estimate";

const refresh_ms = 3_000;
const arms = ["wasm-scalar", "wasm-simd", "wasm-simd-mt", "wasm-relaxed-mt", "wasm64-simd-mt", "webgpu", "webgpu-f16", "native"];

@customElement("assay-runs-view")
export class RunsView extends View {
  @state() private problem_: Problem | undefined;
  @state() private sending_ = false;
  @state() private form_: RunRequest = {
    preset: "smoke",
    steps: 20,
    warmup: 3,
    arms: ["wasm-simd-mt", "webgpu"],
    quadruples: 1,
    policy: "any",
  };
  /** One key a form as it stands, so that a doubled click starts one run. */
  private key_ = newKey();

  private readonly runs_ = new LiveQuery<Page<Run>>(this, (signal) => this.api().runs({ limit: 50 }, signal), refresh_ms);
  private readonly presets_ = new LiveQuery<Preset[]>(this, (signal) => this.api().presets(signal));
  private readonly policies_ = new LiveQuery<Policy[]>(this, (signal) => this.api().policies(signal));
  private readonly earlier_ = new LiveQuery<Page<ReceiptSummary>>(this, (signal) =>
    this.source.receipts({ preset: this.form_.preset, limit: 20 }, signal),
  );

  private api(): ApiSource {
    return this.source as ApiSource;
  }

  protected override willUpdate(): void {
    this.runs_.for("runs");
    this.presets_.for("presets");
    this.policies_.for("policies");
    this.earlier_.for(`earlier ${this.form_.preset}`);
  }

  protected override render(): TemplateResult {
    return html`<div class="view-head">
        <div>
          <h1>Runs</h1>
          <p>One measurement at a time; others wait in the queue.</p>
        </div>
      </div>
      <section class="sheet">
        <h2>Start a run</h2>
        ${this.renderForm()}
      </section>
      <section class="section">
        <h2>Started runs</h2>
        ${whenReady(this.runs_, "the runs", (page) => this.renderRuns(page.items))}
      </section>`;
  }

  private renderForm(): TemplateResult {
    const form = this.form_;
    const presets = this.presets_.value?.map((preset) => preset.name) ?? preset_order;
    const policies = this.policies_.value?.map((policy) => policy.name) ?? ["apple-metal-3", "nvidia", "any-hardware", "any"];
    const chosen = this.presets_.value?.find((preset) => preset.name === form.preset);
    const select = (label: string, pointer: string, value: string, options: string[], change: (value: string) => Partial<RunRequest>): TemplateResult =>
      html`<label class="field"
        >${label}
        <select
          aria-invalid=${this.isWrong(pointer) ? "true" : nothing}
          @change=${(event: Event) => this.change(change((event.target as HTMLSelectElement).value))}
        >
          ${options.map((option) => html`<option value=${option} ?selected=${option === value}>${option}</option>`)}
        </select>
      </label>`;
    const number = (label: string, name: "steps" | "warmup" | "quadruples", low: number, high: number): TemplateResult =>
      html`<label class="field"
        >${label}
        <input
          type="number"
          required
          min=${low}
          max=${high}
          aria-invalid=${this.isWrong(`/${name}`) ? "true" : nothing}
          .value=${String(form[name])}
          @change=${(event: Event) => this.change({ [name]: (event.target as HTMLInputElement).valueAsNumber })}
        />
      </label>`;
    return html`<form class="fields" @submit=${this.start}>
        ${select("Preset", "/preset", form.preset, presets, (preset) => ({ preset }))}
        ${select("A, the baseline", "/arms/0", form.arms[0], arms, (arm) => ({ arms: [arm, form.arms[1]] }))}
        ${select("B", "/arms/1", form.arms[1], arms, (arm) => ({ arms: [form.arms[0], arm] }))}
        ${number("Steps", "steps", 1, 10_000)} ${number("Warm-up", "warmup", 0, 1_000)} ${number("Quadruples", "quadruples", 1, 200)}
        ${select("Adapter policy", "/policy", form.policy, policies, (policy) => ({ policy }))}
        <label class="field wide"
          >Label (optional)
          <input
            maxlength="200"
            aria-invalid=${this.isWrong("/label") ? "true" : nothing}
            .value=${form.label ?? ""}
            @change=${(event: Event) => this.change({ label: (event.target as HTMLInputElement).value })}
          />
        </label>
        <button class="primary" type="submit" ?disabled=${this.sending_}>Start run</button>
      </form>
      <p class="sub">${this.estimateWords(chosen)}</p>
      <p class="sub">${this.policyWords()}</p>
      <details class="inline">
        <summary>What the fields mean</summary>
        <dl class="facts inside">
          <div><dt>A and B</dt><dd>Two ways to train the same model. The result is how many times faster B is than A.</dd></div>
          <div><dt>Steps, warm-up</dt><dd>Timed training steps of each block, after steps that are kept apart and not counted.</dd></div>
          <div><dt>Quadruples</dt><dd>How often the order A B B A is run. Three or more give a 95 % interval; one or two give a point and its spread.</dd></div>
          <div><dt>Adapter policy</dt><dd>Which GPU must be there for the result to be called verified.</dd></div>
        </dl>
      </details>
      ${this.problem_ === undefined
        ? nothing
        : html`<div class="notice notice-problem" role="alert">
            <p><b>${this.problem_.title}.</b> ${this.problem_.detail} ${this.problem_.pointer === undefined ? nothing : html`<code>${this.problem_.pointer}</code>`}</p>
          </div>`}`;
  }

  private isWrong(pointer: string): boolean {
    return this.problem_?.pointer === pointer;
  }

  private estimateWords(preset: Preset | undefined): string {
    const form = this.form_;
    const blocks = 4 * form.quadruples;
    const work = `${blocks} blocks of ${form.warmup} + ${form.steps} steps${preset?.flops_per_step === undefined ? "" : `, ${flops(preset.flops_per_step)} a step`}.`;
    const estimate = estimateMilliseconds(form, this.earlier_.value?.items ?? []);
    if (estimate === undefined) return `${work} How long it takes is not known: no run of ${form.preset} with these arms has ended here yet.`;
    return `${work} About ${duration(estimate)}, judging by earlier receipts of ${form.preset} with these arms.`;
  }

  /** What the chosen policy asks for. */
  private policyWords(): string {
    const { policy } = this.form_;
    const description = this.policies_.value?.find(({ name }) => name === policy)?.description;
    return `Policy ${policy}: ${description ?? "any other adapter is refused before anything is timed."}`;
  }

  private change(part: Partial<RunRequest>): void {
    this.form_ = { ...this.form_, ...part };
    this.key_ = newKey();
    this.problem_ = undefined;
  }

  private async start(event: Event): Promise<void> {
    event.preventDefault();
    if (this.sending_) return;
    this.sending_ = true;
    this.problem_ = undefined;
    try {
      const { label, ...rest } = this.form_;
      const { id } = await this.api().startRun(label === undefined || label === "" ? rest : { ...rest, label }, this.key_);
      this.router.navigate(addressOf("runs", id));
    } catch (thrown) {
      this.problem_ = thrown instanceof Problem ? thrown : unreachable(thrown);
    } finally {
      this.sending_ = false;
    }
  }

  private renderRuns(runs: Run[]): TemplateResult {
    if (runs.length === 0) return emptyState("No run yet", "Start one above. It shows here at once, and its receipt when it has ended.");
    return html`<div class="table-scroll" tabindex="0" role="region" aria-label="Runs, newest first">
      <table class="cards">
        <thead>
          <tr>
            <th scope="col">started</th>
            <th scope="col">state</th>
            <th scope="col">preset</th>
            <th scope="col">arms</th>
            <th scope="col">label</th>
            <th scope="col">receipt</th>
          </tr>
        </thead>
        <tbody>
          ${runs.map(
            (run) =>
              html`<tr>
                <th scope="row"><a href=${this.href(addressOf("runs", run.id))}>${ago(run.started_at ?? run.created_at)}</a></th>
                <td data-name="state">${runStateMark(run)}</td>
                <td data-name="preset">${run.request?.preset || "custom"}</td>
                <td data-name="arms" class="long">${(run.request?.arms ?? []).join(" / ")}</td>
                <td data-name="label" class="long">${run.label === undefined ? absent : clamped(run.label)}</td>
                <td data-name="receipt">
                  ${run.receipt_id === undefined
                    ? html`<span class="absent">none${run.state === "queued" || run.state === "running" ? " yet" : ""}</span>`
                    : html`<a href=${this.href(addressOf("receipts", run.receipt_id))}>receipt</a>`}
                </td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
  }
}

/** A random UUID. Not crypto.randomUUID(), which pages that came over plain http from another machine do not have. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
