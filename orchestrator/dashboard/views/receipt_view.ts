// One receipt: what it says, what stamps it, its four series of step times, and whether it holds.

import { html, nothing, type TemplateResult } from "lit";
import { customElement, state } from "lit/decorators.js";
import "../components/chart_figure";
import { copyText, saveText } from "../components/copy";
import { factList } from "../components/figures";
import { emptyState, whenReady } from "../components/states";
import { evidenceMark, verdict_meaning, verdictMark } from "../components/verdict";
import { verificationList } from "../components/verification";
import { View } from "../components/view";
import { LiveQuery } from "../data/live_query";
import { blockNames, type Receipt } from "../data/receipt";
import { count, duration, flops, loss, moment, percent, ratio, speedupWords } from "../format";
import { addressOf } from "../router";
import { checkFigures } from "../verify/check_figures";
import { openEnvelope, type Check } from "../verify/envelope";
import { blockMedian } from "../verify/recompute";
import { armTable, stepTable } from "./receipt_tables";
import { badgeSvg, stepsCsv } from "./receipt_export";

/** A heading of more characters than this is set smaller. */
const long_title = 60;

interface Opened {
  file_text: string;
  receipt: Receipt | undefined;
  checks: Check[];
  file_sha256: string;
  key_id: string | undefined;
}

@customElement("assay-receipt-view")
export class ReceiptView extends View {
  @state() private show_all_ = false;

  private readonly query_ = new LiveQuery<Opened>(this, async (signal) => {
    const file_text = await this.source.receiptFile(this.route.id!, signal);
    const { receipt, checks, file_sha256, key_id } = await openEnvelope(file_text);
    return { file_text, receipt, checks: receipt === undefined ? checks : [...checks, ...checkFigures(receipt)], file_sha256, key_id };
  });

  protected override willUpdate(): void {
    if (this.route.id !== undefined) this.query_.for(this.route.id);
  }

  protected override render(): TemplateResult {
    const name = `Receipt ${this.route.id}`;
    return whenReady(
      this.query_,
      "the receipt",
      (opened) =>
        opened.receipt === undefined
          ? html`<h1>${name}</h1>
              ${emptyState("This file cannot be read", "It was changed, or it is no receipt. The checks say what is wrong.")}
              ${verificationList(opened.checks)}`
          : this.renderReceipt(opened, opened.receipt),
      name,
    );
  }

  private renderReceipt(opened: Opened, receipt: Receipt): TemplateResult {
    return html`${this.renderHead(receipt, opened)} ${this.renderSteps(receipt)} ${this.renderLoss(receipt)}
      <section class="section">
        <h2>Does it hold?</h2>
        ${verificationList(opened.checks)}
      </section>
      ${this.renderCircumstances(receipt, opened)}`;
  }

  private renderHead(receipt: Receipt, opened: Opened): TemplateResult {
    const { analysis, verdict, request, model } = receipt;
    const [a, b] = request.arms;
    const reasons = verdict.reasons ?? [];
    const hostname = receipt.machine?.["hostname"];
    const name = request.label ?? `${request.preset || "custom size"}: ${a ?? "?"} against ${b ?? "?"}`;
    const has_figure = analysis?.speedup !== undefined;
    return html`<div class="view-head">
        <div>
          <h1 class=${name.length > long_title ? "long-title" : nothing}>${name}</h1>
          <p>
            ${typeof hostname === "string" ? html`on <b>${hostname}</b>, ` : nothing}${moment(receipt.created_at)} · receipt
            <code>${receipt.id}</code>
          </p>
        </div>
        <div class="actions">
          <a class="button" href=${this.source.receiptFileAddress(receipt.id)} download=${`${receipt.id}.assay.json`}>Signed file</a>
          <button @click=${() => saveText(`${receipt.id}.csv`, "text/csv", stepsCsv(receipt))}>Steps as CSV</button>
          <button @click=${() => saveText(`${receipt.id}.svg`, "image/svg+xml", badgeSvg(receipt))}>Badge</button>
          <button @click=${(event: Event) => copyText(event, location.href)}>Copy link</button>
          <a class="button" href=${this.href(addressOf("compare", undefined, { a: receipt.id }))}>Compare with …</a>
        </div>
      </div>
      <div class="sheet assay-head">
        <div>
          <div class="big">${ratio(analysis?.speedup)}</div>
          <div>
            ${analysis?.speedup === undefined ? html`<span class="absent">no speed-up was measured</span>` : speedupWords(analysis.speedup, a ?? "A", b ?? "B")}
          </div>
          <div class="sub">${precisionWords(receipt)}</div>
          <div class="stamp">${verdictMark(verdict.result)} ${evidenceMark(receipt.evidence)}</div>
        </div>
        <div>
          <p><b>${verdict.result}</b>: ${verdict_meaning[verdict.result] ?? "a verdict this page does not know"}.</p>
          ${reasons.length === 0
            ? nothing
            : html`<ul class="reasons">
                ${reasons.map((reason) => html`<li>${reason.message} <code>${reason.code}</code></li>`)}
              </ul>`}
          <dl class="facts">
            ${has_figure
              ? html`<div>
                    <dt>median step</dt>
                    <dd>
                      <span class="side-a">A ${a} ${duration(analysis.a_median_ms)}</span>, <span class="side-b">B ${b} ${duration(analysis.b_median_ms)}</span>
                    </dd>
                  </div>
                  <div><dt>largest loss drift</dt><dd>${percent(analysis.max_loss_drift)}</dd></div>
                  <div>
                    <dt>spread of repeats</dt>
                    <dd>A ${percent(analysis.repeat_spread?.a)}, B ${percent(analysis.repeat_spread?.b)}</dd>
                  </div>`
              : nothing}
            <div>
              <dt>work</dt>
              <dd>
                ${request.preset || "custom size"}: ${count(model?.parameters)} parameters, ${flops(model?.flops_per_step)} a step,
                ${count(request.steps)} steps
              </dd>
            </div>
            <div><dt>plan</dt><dd>${planWords(receipt.plan ?? [])}${turnWords(request.slice_steps)}</dd></div>
            <div><dt>file</dt><dd><code>${opened.file_sha256}</code></dd></div>
          </dl>
        </div>
      </div>`;
  }

  private renderSteps(receipt: Receipt): TemplateResult {
    const arms = receipt.arms ?? [];
    if (arms.every((record) => (record.steps ?? []).length === 0)) {
      return html`<section class="section">
        <h2>Steps</h2>
        ${emptyState("No step was timed", "The reasons above say why. A refused or failed run keeps its receipt, so that a gap has a reason.")}
        ${arms.length === 0 ? nothing : armTable(receipt)}
      </section>`;
    }
    const { arms: [a, b], slice_steps } = receipt.request;
    return html`<section class="section stack">
      <h2>Steps</h2>
      <assay-chart
        heading=${slice_steps === undefined ? "Step times in the order they ran" : "Step times, block after block"}
        description=${`Each dot is one step, each bar a block's median; A is ${a ?? "?"}, B is ${b ?? "?"}${turnWords(slice_steps)}.`}
        .version=${receipt.id}
        .draw=${async (width: number) => (await import("../charts/step_plots")).stepTimes(receipt, width)}
        .legend=${sideLegend(receipt)}
        .table=${stepTable(receipt, this.show_all_, () => {
          this.show_all_ = true;
        })}
      ></assay-chart>
      ${armTable(receipt)}
    </section>`;
  }

  private renderLoss(receipt: Receipt): TemplateResult | typeof nothing {
    const arms = (receipt.arms ?? []).filter((record) => (record.steps ?? []).length > 0);
    if (arms.length === 0) return nothing;
    const names = blockNames(arms);
    return html`<section class="section">
      <h2>Do the losses agree?</h2>
      <div class="columns">
        <assay-chart
          heading="Loss, all blocks laid over each other"
          description=${`Final losses: ${arms.slice(0, 4).map((record, index) => `${names[index]} ${loss(record.final_loss ?? record.steps?.at(-1)?.loss)}`).join(", ")}.`}
          .version=${receipt.id}
          .draw=${async (width: number) => (await import("../charts/step_plots")).lossCurves(receipt, width)}
          .legend=${sideLegend(receipt)}
        ></assay-chart>
        <assay-chart
          heading="Drift between A and B"
          description=${`Relative difference of the losses at the same training step; largest ${percent(receipt.analysis?.max_loss_drift)}.`}
          .version=${receipt.id}
          .draw=${async (width: number) => (await import("../charts/step_plots")).driftCurve(receipt, width)}
        ></assay-chart>
      </div>
    </section>`;
  }

  private renderCircumstances(receipt: Receipt, opened: Opened): TemplateResult {
    const { adapter, browser, inputs } = receipt;
    const fold = (title: string, inside: unknown, open = false): TemplateResult =>
      html`<details ?open=${open}><summary>${title}</summary><div class="inside">${inside}</div></details>`;
    const page = adapter?.page;
    return html`<section class="section">
      <h2>Under what circumstances?</h2>
      <div class="columns">
        <div>
          <h3>The adapter as the page saw it</h3>
          ${factList(page && { vendor: page.vendor, architecture: page.architecture || "(empty)", device: page.device || "(empty)", description: page.description || "(empty)", fallback: page.is_fallback ?? "not said" })}
          ${page?.features === undefined ? nothing : fold("Features and limits", factList({ features: page.features, ...page.limits }))}
        </div>
        <div>
          <h3>The adapter as DevTools saw it</h3>
          ${factList(adapter?.devtools && devtoolsGist(adapter.devtools))}
          ${adapter?.devtools === undefined ? nothing : fold("All that DevTools said", factList({ devices: adapter.devtools.devices, ...adapter.devtools.aux_attributes }))}
          ${adapter?.devtools?.feature_status === undefined ? nothing : fold("Feature status", factList(adapter.devtools.feature_status))}
        </div>
      </div>
      ${fold("Machine", factList(receipt.machine))} ${fold("Environment before the first arm", factList(receipt.environment))}
      ${fold(
        `Browser: ${browser?.product ?? "not recorded"}`,
        html`${factList(browser && Object.fromEntries(Object.entries(browser).filter(([name]) => name !== "switches")))}
          <ul class="mono">
            ${(browser?.switches ?? []).map((item) => html`<li>${item}</li>`)}
          </ul>`,
      )}
      ${fold("Request", factList(receipt.request))}
      ${fold("Inputs and digests", factList({ ...inputs, signing_key: opened.key_id, previous_file: receipt.chain?.previous_sha256 ?? "first of this machine" }))}
      ${fold("Errors and console lines", this.renderMessages(receipt))}
    </section>`;
  }

  private renderMessages(receipt: Receipt): TemplateResult {
    const arms = receipt.arms ?? [];
    const names = blockNames(arms);
    const lines = arms.flatMap((record, index) => [
      ...(record.errors ?? []).map((line) => `${names[index]} error: ${line}`),
      ...(record.console ?? []).map((line) => `${names[index]} console: ${line}`),
    ]);
    return lines.length === 0 ? html`<p class="absent">None.</p>` : html`<pre class="log" tabindex="0">${lines.join("\n")}</pre>`;
  }
}

/** The order of the blocks, a space between quadruples: "ABBA BAAB". */
function planWords(plan: readonly string[]): string {
  return plan.map((block, index) => (index > 0 && index % 4 === 0 ? ` ${block}` : block)).join("");
}

/** How the blocks of a quadruple took turns, where they did. */
function turnWords(slice_steps: number | undefined): string {
  return slice_steps === undefined ? "" : `; the blocks of a quadruple in turn, ${slice_steps} ${slice_steps === 1 ? "step" : "steps"} at a time`;
}

/** What decides about an adapter, of the dozens of facts that DevTools has. */
function devtoolsGist({ devices, aux_attributes }: NonNullable<NonNullable<Receipt["adapter"]>["devtools"]>): object {
  const { glRenderer, displayType } = (aux_attributes ?? {}) as Record<string, unknown>;
  const first = devices?.[0];
  return {
    vendor: first?.vendor || "(empty)",
    device: first?.device || "(empty)",
    driver: [first?.driver_vendor, first?.driver_version].filter(Boolean).join(" ") || "(empty)",
    renderer: glRenderer,
    "display type": displayType,
  };
}

/** Says in words how precise the figure is, and by which rule. */
function precisionWords(receipt: Receipt): string {
  const { analysis, verdict } = receipt;
  if (analysis?.speedup === undefined) return "";
  if (analysis.interval95 !== undefined) return `95 % interval ${ratio(analysis.interval95[0])} to ${ratio(analysis.interval95[1])}`;
  const worst = Math.max(analysis.repeat_spread?.a ?? 0, analysis.repeat_spread?.b ?? 0);
  return `${verdict.precision === "spread" ? "precise by spread" : "no interval"}: repeats differ by up to ${percent(worst)}`;
}

function sideLegend(receipt: Receipt): TemplateResult {
  const [a, b] = receipt.request.arms;
  const medians = (side: "A" | "B"): string => {
    const blocks = (receipt.arms ?? []).filter((record) => record.block === side);
    if (blocks.length <= 4) return blocks.map((record) => duration(blockMedian(record))).join(", ");
    return `median ${duration(receipt.analysis?.[side === "A" ? "a_median_ms" : "b_median_ms"])} of ${blocks.length} blocks`;
  };
  return html`<ul class="chart-key">
    <li class="side-a"><svg viewBox="0 0 20 10" aria-hidden="true"><circle cx="10" cy="5" r="4" fill="currentColor" /></svg>A ${a}: ${medians("A")}</li>
    <li class="side-b"><svg viewBox="0 0 20 10" aria-hidden="true"><circle cx="10" cy="5" r="4" fill="currentColor" /></svg>B ${b}: ${medians("B")}</li>
  </ul>`;
}
