// Training in the reader's own browser: any preset and backend, live loss and step time, a sample of text at the end.
// It explores and proves nothing: no gate, no plan, no receipt.

import { html, LitElement, nothing, type TemplateResult } from "lit";
import { customElement, state } from "lit/decorators.js";
import "../../../orchestrator/dashboard/components/chart_figure";
import { masthead } from "../../../orchestrator/dashboard/components/masthead";
import { applyTheme, readTheme, type Theme } from "../../../orchestrator/dashboard/components/theme";
import { duration, loss } from "../../../orchestrator/dashboard/format";
import type { ArmConfig } from "../arm";
import { EventSender, type ArmEvent, type Facts } from "../arm_events";
import { ArmHost, type WorkerLike } from "../arm_host";
import { readFacts } from "../page_facts";
import { presets } from "../presets";
import { hostableArms, supportsThreads } from "../wasm_features";
import { saveText } from "../../../orchestrator/dashboard/components/copy";
import { median } from "../../../orchestrator/dashboard/verify/recompute";
import { Sampler, sampleText } from "./sampler";

interface Step {
  wall_ms: number;
  loss: number;
}

type Stage = "idle" | "preparing" | "warming up" | "training" | "sampling" | "finished" | "stopped" | "failed";

const sample_length = 240;
const most_threads = 8;

@customElement("assay-playground")
export class Playground extends LitElement {
  @state() private stage_: Stage = "idle";
  @state() private facts_: Facts | undefined;
  @state() private arms_: string[] = [];
  @state() private arm_ = "";
  @state() private preset_ = "tiny";
  @state() private step_count_ = 60;
  @state() private steps_: Step[] = [];
  @state() private sample_ = "";
  @state() private message_ = "";
  @state() private theme_: Theme = "system";
  private threads_ = Math.min(most_threads, Math.max(1, navigator.hardwareConcurrency ?? 1));
  private log_: ArmEvent[] = [];

  private readonly host_ = new ArmHost({
    makeWorker: () => new Worker(new URL("../arm_worker.ts", import.meta.url), { type: "module" }) as unknown as WorkerLike,
    events: new EventSender((text) => this.receive(JSON.parse(text) as ArmEvent)),
    readFacts,
    later: (delay_ms, call) => {
      const timer = setTimeout(call, delay_ms);
      return () => clearTimeout(timer);
    },
    base_url: new URL("/", location.href).href,
    shared_memory: supportsThreads(),
  });

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  private setTheme(theme: Theme): void {
    this.theme_ = theme;
    applyTheme(theme);
  }

  override async connectedCallback(): Promise<void> {
    super.connectedCallback();
    this.setTheme(readTheme());
    this.facts_ = await readFacts();
    const { adapter } = this.facts_;
    // Half precision is an arm of its own and not offered here; the others are the browser's to refuse.
    this.arms_ = hostableArms(adapter !== undefined, false);
    const asked = new URLSearchParams(location.search);
    this.arm_ = this.arms_.find((arm) => arm === asked.get("arm")) ?? (this.arms_.includes("wasm-simd-mt") ? "wasm-simd-mt" : this.arms_.at(-1)!);
    const preset = asked.get("preset");
    if (preset !== null && preset in presets) this.preset_ = preset;
  }

  private receive(event: ArmEvent): void {
    this.log_.push(event);
    if (event.event === "steps" && event.phase === "measure") {
      this.steps_ = [...this.steps_, ...event.wall_ms.map((wall_ms, index) => ({ wall_ms, loss: event.loss[index]! }))];
    } else if (event.event === "error") {
      this.stage_ = event.code === "aborted" ? "stopped" : "failed";
      this.message_ = event.code === "aborted" ? "Stopped." : `${event.message} (${event.code})`;
    }
  }

  private get busy(): boolean {
    return ["preparing", "warming up", "training", "sampling"].includes(this.stage_);
  }

  private async start(event: Event): Promise<void> {
    event.preventDefault();
    if (this.busy) return;
    this.steps_ = [];
    this.sample_ = "";
    this.message_ = "";
    this.log_ = [];
    const model = presets[this.preset_]!;
    const config: ArmConfig = {
      schema: "assay.arm-config/1.0",
      arm: this.arm_,
      model,
      steps: this.step_count_,
      warmup: 1,
      seed: "42",
      threads: this.threads_,
      corpus: { name: "builtin" },
    };
    this.stage_ = "preparing";
    if (!(await this.host_.prepare(config))) return;
    this.stage_ = "warming up";
    if (!(await this.host_.warmup())) return;
    this.stage_ = "training";
    if (!(await this.host_.measure())) return;
    this.stage_ = "sampling";
    const read = await this.host_.inspect({ what: "parameters" });
    if (read !== undefined) await this.sample(read.values);
    if (this.stage_ === "sampling") this.stage_ = "finished";
  }

  private async sample(parameters: Float32Array): Promise<void> {
    const shape = presets[this.preset_]!;
    let made = 0;
    this.sample_ = await sampleText(new Sampler(shape, parameters), shape, {
      length: sample_length,
      prompt: "\n",
      temperature: 0.8,
      random: Math.random,
      pause: () => {
        made += 1;
        return made % 8 === 0 ? new Promise((resolve) => setTimeout(resolve, 0)) : Promise.resolve();
      },
    });
  }

  private exportSeen(): void {
    const seen = {
      note: "Seen in a playground: no gate, no plan, no repeats. This proves nothing; a signed receipt would.",
      at: new Date().toISOString(),
      preset: this.preset_,
      arm: this.arm_,
      facts: this.facts_,
      events: this.log_,
      sample: this.sample_,
    };
    saveText(`playground-${this.preset_}-${this.arm_}.json`, "application/json", JSON.stringify(seen, null, 1));
  }

  protected override render(): TemplateResult {
    return html`<a class="skip" href="#content">Skip to content</a>
      ${masthead({
        current: "playground",
        live: true,
        href: (path) => path,
        theme: this.theme_,
        choose: (theme) => this.setTheme(theme),
      })}
      <main id="content" tabindex="-1">
        <div class="view-head">
          <div>
            <h1>Playground</h1>
            <p>Train a small GPT in this browser, on this machine, and read what it writes.</p>
          </div>
        </div>
        <div class="notice notice-caution">
          <p>
            <b>This explores and proves nothing.</b> There is no gate, no order of repeats and no receipt here, and another tab may be busy. For
            a figure to rely on, <a href="/runs">start a run</a>.
          </p>
        </div>
        ${this.renderForm()} ${this.renderProgress()} ${this.renderCharts()} ${this.renderSample()} ${this.renderFacts()}
      </main>
      <footer class="colophon"><p>Nothing that is seen here is sent anywhere or kept.</p></footer>`;
  }

  private renderForm(): TemplateResult {
    return html`<form class="fields sheet" @submit=${this.start}>
      <label class="field"
        >Preset
        <select ?disabled=${this.busy} @change=${(event: Event) => (this.preset_ = (event.target as HTMLSelectElement).value)}>
          ${Object.keys(presets).map((name) => html`<option value=${name} ?selected=${name === this.preset_}>${name}</option>`)}
        </select>
      </label>
      <label class="field"
        >Backend
        <select ?disabled=${this.busy} @change=${(event: Event) => (this.arm_ = (event.target as HTMLSelectElement).value)}>
          ${this.arms_.map((name) => html`<option value=${name} ?selected=${name === this.arm_}>${name}</option>`)}
        </select>
      </label>
      <label class="field"
        >Steps
        <input
          type="number"
          min="1"
          max="10000"
          required
          ?disabled=${this.busy}
          .value=${String(this.step_count_)}
          @change=${(event: Event) => (this.step_count_ = (event.target as HTMLInputElement).valueAsNumber)}
        />
      </label>
      ${this.busy
        ? html`<button type="button" class="danger" @click=${() => void this.host_.abort()}>Stop</button>`
        : html`<button type="submit" class="primary" ?disabled=${this.arm_ === ""}>Train</button>`}
      <button type="button" ?disabled=${this.steps_.length === 0} @click=${this.exportSeen}>Export what was seen</button>
    </form>`;
  }

  private renderProgress(): TemplateResult {
    const last = this.steps_.at(-1);
    const words: Record<Stage, string> = {
      idle: "Nothing is running.",
      preparing: "Making the model …",
      "warming up": "Warming up …",
      training: `Training: step ${this.steps_.length} of ${this.step_count_}, loss ${loss(last?.loss)}, ${duration(last?.wall_ms)} a step.`,
      sampling: "Writing a sample …",
      finished: `Finished: loss ${loss(this.steps_[0]?.loss)} to ${loss(last?.loss)}, median ${duration(median(this.steps_.map((step) => step.wall_ms)))} a step.`,
      stopped: "Stopped.",
      failed: "It failed.",
    };
    return html`<p aria-live="polite" data-stage=${this.stage_}>${words[this.stage_]} ${this.stage_ === "failed" ? html`<span class="failed">${this.message_}</span>` : nothing}</p>
      ${this.busy ? html`<progress aria-label="Steps done" max=${this.step_count_} .value=${this.steps_.length}></progress>` : nothing}`;
  }

  private renderCharts(): TemplateResult | typeof nothing {
    if (this.steps_.length === 0) return nothing;
    const version = `${this.steps_.length} ${this.arm_} ${this.preset_}`;
    return html`<div class="columns section">
      <assay-chart
        heading="Loss"
        description="Mean cross-entropy of each step's batch, in nats; a model that knows nothing has 5.55."
        .version=${version}
        .draw=${async (width: number) => (await import("./playground_plots")).seriesPlot(this.steps_.map((step) => step.loss), "loss (nats)", "var(--side-b)", width)}
      ></assay-chart>
      <assay-chart
        heading="Step time"
        description="Milliseconds from the batch's upload to the loss, with the update finished."
        .version=${version}
        .draw=${async (width: number) => (await import("./playground_plots")).seriesPlot(this.steps_.map((step) => step.wall_ms), "ms a step", "var(--side-a)", width)}
        .table=${this.renderTable()}
      ></assay-chart>
    </div>`;
  }

  private renderTable(): TemplateResult {
    return html`<table>
      <thead>
        <tr>
          <th scope="col" class="number">step</th>
          <th scope="col" class="number">ms</th>
          <th scope="col" class="number">loss</th>
        </tr>
      </thead>
      <tbody>
        ${this.steps_.slice(0, 200).map(
          (step, index) =>
            html`<tr>
              <th scope="row" class="number">${index + 1}</th>
              <td class="number">${step.wall_ms.toFixed(3)}</td>
              <td class="number">${loss(step.loss)}</td>
            </tr>`,
        )}
      </tbody>
    </table>`;
  }

  private renderSample(): TemplateResult | typeof nothing {
    if (this.sample_ === "") return nothing;
    return html`<section class="section">
      <h2>What it writes now</h2>
      <p class="sub">${sample_length} bytes at temperature 0.8, from the trained weights. After few steps it is noise with the right letters.</p>
      <pre class="log" tabindex="0" data-sample>${this.sample_}</pre>
    </section>`;
  }

  private renderFacts(): TemplateResult | typeof nothing {
    if (this.facts_ === undefined) return nothing;
    const { page, adapter } = this.facts_;
    return html`<section class="section">
      <h2>This browser</h2>
      <dl class="facts">
        <div><dt>threads</dt><dd>${page.cross_origin_isolated ? `up to ${this.threads_}` : "none: the page is not cross-origin isolated"}</dd></div>
        <div><dt>clock</dt><dd>ticks of ${page.timer_quantum_us} µs</dd></div>
        <div>
          <dt>WebGPU adapter</dt>
          <dd>
            ${adapter === undefined
              ? "none"
              : `${adapter.vendor || "unnamed vendor"} ${adapter.architecture} ${adapter.description}${adapter.is_fallback === true ? " (a software adapter: its speed says nothing about a GPU)" : ""}`}
          </dd>
        </div>
      </dl>
    </section>`;
  }
}
