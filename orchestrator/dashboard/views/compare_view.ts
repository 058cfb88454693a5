// May these be compared? Two receipts side by side, and exactly why not where they may not.

import { html, nothing, type TemplateResult } from "lit";
import { customElement } from "lit/decorators.js";
import "../components/chart_figure";
import { flatten, ratioFigure } from "../components/figures";
import { emptyState, whenReady } from "../components/states";
import { evidenceMark, verdictMark } from "../components/verdict";
import { View } from "../components/view";
import { LiveQuery } from "../data/live_query";
import { blockNames, type Receipt } from "../data/receipt";
import { Problem } from "../data/problem";
import type { Comparison, Page, ReceiptSummary } from "../data/source";
import { absent, duration, moment, percent, ratio } from "../format";
import { addressOf } from "../router";
import { openEnvelope } from "../verify/envelope";

interface Both {
  /** Absent where the server has no such question. */
  comparison: Comparison | undefined;
  a: Receipt | undefined;
  b: Receipt | undefined;
}

@customElement("assay-compare-view")
export class CompareView extends View {
  private readonly choices_ = new LiveQuery<Page<ReceiptSummary>>(this, (signal) => this.source.receipts({ limit: 200 }, signal));
  private readonly both_ = new LiveQuery<Both>(this, (signal) => this.ask(signal));

  private async ask(signal: AbortSignal): Promise<Both> {
    const [a, b] = this.chosen() as [string, string];
    const open = async (id: string): Promise<Receipt | undefined> => (await openEnvelope(await this.source.receiptFile(id, signal))).receipt;
    const [comparison, opened_a, opened_b] = await Promise.all([this.askComparison(a, b, signal), open(a), open(b)]);
    return { comparison, a: opened_a, b: opened_b };
  }

  private async askComparison(a: string, b: string, signal: AbortSignal): Promise<Comparison | undefined> {
    try {
      return await this.source.compare(a, b, signal);
    } catch (thrown) {
      if (thrown instanceof Problem && thrown.status === 404) return undefined;
      throw thrown;
    }
  }

  private chosen(): [string | null, string | null] {
    return [this.route.query.get("a"), this.route.query.get("b")];
  }

  protected override willUpdate(): void {
    this.choices_.for("choices");
    const [a, b] = this.chosen();
    if (a !== null && b !== null) this.both_.for(`${a} ${b}`);
  }

  protected override render(): TemplateResult {
    const [a, b] = this.chosen();
    return html`<div class="view-head">
        <div>
          <h1>Compare</h1>
          <p>Choose two receipts. The first question is whether they may be compared at all.</p>
        </div>
      </div>
      ${whenReady(this.choices_, "the receipts", (page) =>
        page.items.length === 0
          ? emptyState("Nothing to compare yet", "Two receipts are needed.")
          : html`<div class="filters">${this.renderChoice("First", "a", a, page.items)} ${this.renderChoice("Second", "b", b, page.items)}</div>`,
      )}
      ${a === null || b === null ? nothing : whenReady(this.both_, "the comparison", (both) => this.renderBoth(both))}`;
  }

  private renderChoice(label: string, name: "a" | "b", chosen: string | null, receipts: ReceiptSummary[]): TemplateResult {
    const known = chosen === null || receipts.some((receipt) => receipt.id === chosen);
    return html`<label class="field wide"
      >${label}
      <select @change=${(event: Event) => this.choose(name, (event.target as HTMLSelectElement).value)}>
        <option value="" ?selected=${chosen === null}>choose a receipt</option>
        ${known ? nothing : html`<option value=${chosen} selected>${chosen}</option>`}
        ${receipts.map(
          (receipt) =>
            html`<option value=${receipt.id} ?selected=${receipt.id === chosen}>
              ${`${moment(receipt.created_at)}, ${receipt.preset || "custom"}, ${receipt.machine_name || receipt.machine_id}, ${receipt.arm_a} / ${receipt.arm_b}: ${ratio(receipt.speedup)} ${receipt.verdict}`}
            </option>`,
        )}
      </select>
    </label>`;
  }

  private choose(name: "a" | "b", id: string): void {
    const [a, b] = this.chosen();
    const query = { a: a ?? undefined, b: b ?? undefined, [name]: id };
    this.router.navigate(addressOf("compare", undefined, query), { replace: true });
  }

  private renderBoth({ comparison, a, b }: Both): TemplateResult {
    return html`${comparison === undefined ? html`<p>Whether these two may be compared is not known here.</p>` : this.renderVerdict(comparison)}
      ${a === undefined || b === undefined ? html`<p class="failed">One of the two files could not be read.</p>` : this.renderSides(a, b)}
      ${comparison === undefined ? nothing : this.renderDifferences(comparison)}
      ${a === undefined || b === undefined ? nothing : this.renderEnvironment(a, b)}`;
  }

  private renderVerdict(comparison: Comparison): TemplateResult {
    return html`<section class="sheet" data-comparable=${String(comparison.comparable)}>
        <h2>
          ${comparison.comparable
            ? html`<span class="passed">✓ These two may be compared</span>`
            : html`<span class="failed">✗ These two may not be compared</span>`}
        </h2>
        ${comparison.reasons.length === 0
          ? nothing
          : html`<ul class="reasons">
              ${comparison.reasons.map((reason) => html`<li>${reason.message} <code>${reason.code}</code></li>`)}
            </ul>`}
        ${comparison.ratio === undefined
          ? nothing
          : html`<p>
              The second's speed-up is <b>${ratio(comparison.ratio)}</b> the first's${comparison.ratio_interval === undefined
                ? ""
                : ` (95 % interval ${ratio(comparison.ratio_interval[0])} to ${ratio(comparison.ratio_interval[1])})`}.
            </p>`}
      </section>`;
  }

  private renderDifferences(comparison: Comparison): TemplateResult {
    return html`<section class="section">
        <h2>What differs</h2>
        ${comparison.differences.length === 0
          ? html`<p>Nothing that bears on the comparison.</p>`
          : html`<div class="table-scroll" tabindex="0" role="region" aria-label="What differs">
              <table>
                <thead>
                  <tr>
                    <th scope="col">field</th>
                    <th scope="col">first</th>
                    <th scope="col">second</th>
                    <th scope="col">why it matters</th>
                  </tr>
                </thead>
                <tbody>
                  ${comparison.differences.map(
                    (difference) =>
                      html`<tr>
                        <th scope="row"><code>${difference.field}</code>${difference.blocks === true ? html`<span class="sub failed">forbids it</span>` : nothing}</th>
                        <td class="long">${valueText(difference.a)}</td>
                        <td class="long">${valueText(difference.b)}</td>
                        <td class="long">${difference.why ?? ""}</td>
                      </tr>`,
                  )}
                </tbody>
              </table>
            </div>`}
      </section>`;
  }

  private renderSides(a: Receipt, b: Receipt): TemplateResult {
    const groups = [
      ...blockGroups("1st", a),
      ...blockGroups("2nd", b),
    ];
    return html`<section class="section">
      <h2>Side by side</h2>
      <div class="table-scroll" tabindex="0" role="region" aria-label="Side by side">
        <table>
          <thead>
            <tr>
              <td></td>
              <th scope="col">first</th>
              <th scope="col">second</th>
            </tr>
          </thead>
          <tbody>
            ${sideRow("receipt", a, b, (receipt) => html`<a href=${this.href(addressOf("receipts", receipt.id))}>${receipt.id}</a>`)}
            ${sideRow("verdict", a, b, (receipt) => html`${verdictMark(receipt.verdict.result)} ${evidenceMark(receipt.evidence)}`)}
            ${sideRow("machine", a, b, (receipt) => String(receipt.machine?.["hostname"] ?? absent))}
            ${sideRow("preset", a, b, (receipt) => receipt.request.preset || "custom")}
            ${sideRow("ratio", a, b, (receipt) =>
              ratioFigure({
                ...(receipt.analysis?.speedup === undefined ? {} : { speedup: receipt.analysis.speedup }),
                ...(receipt.analysis?.interval95 === undefined ? {} : { interval95: receipt.analysis.interval95 }),
              }),
            )}
            ${sideRow("median of A", a, b, (receipt) => `${receipt.request.arms[0] ?? ""}: ${duration(receipt.analysis?.a_median_ms)}`)}
            ${sideRow("median of B", a, b, (receipt) => `${receipt.request.arms[1] ?? ""}: ${duration(receipt.analysis?.b_median_ms)}`)}
            ${sideRow("spread of repeats", a, b, (receipt) => `A ${percent(receipt.analysis?.repeat_spread?.a)}, B ${percent(receipt.analysis?.repeat_spread?.b)}`)}
            ${sideRow("loss drift", a, b, (receipt) => percent(receipt.analysis?.max_loss_drift))}
          </tbody>
        </table>
      </div>
      ${groups.length === 0
        ? nothing
        : html`<assay-chart
            heading="Distributions of step times"
            description="Each dot is one step (the first 500 of a block), each bar a median."
            .version=${`${a.id} ${b.id}`}
            .draw=${async (width: number) => (await import("../charts/step_plots")).distributions(groups, width)}
          ></assay-chart>`}
    </section>`;
  }

  private renderEnvironment(a: Receipt, b: Receipt): TemplateResult {
    const facts = (receipt: Receipt): Map<string, string> =>
      new Map(flatten({ machine: receipt.machine, browser: receipt.browser, environment: receipt.environment, adapter: receipt.adapter?.page }));
    const [left, right] = [facts(a), facts(b)];
    const names = [...new Set([...left.keys(), ...right.keys()])].filter((name) => left.get(name) !== right.get(name));
    return html`<section class="section">
      <h2>Environment, where it differs</h2>
      ${names.length === 0
        ? html`<p>Both were measured under the same recorded circumstances.</p>`
        : html`<div class="table-scroll" tabindex="0" role="region" aria-label="Environment, where it differs">
            <table>
              <thead>
                <tr>
                  <th scope="col">fact</th>
                  <th scope="col">first</th>
                  <th scope="col">second</th>
                </tr>
              </thead>
              <tbody>
                ${names.map(
                  (name) =>
                    html`<tr>
                      <th scope="row"><code>${name}</code></th>
                      <td class="long">${left.get(name) ?? absent}</td>
                      <td class="long">${right.get(name) ?? absent}</td>
                    </tr>`,
                )}
              </tbody>
            </table>
          </div>`}
    </section>`;
  }
}

function blockGroups(which: string, receipt: Receipt): { name: string; values: number[]; side: "A" | "B" }[] {
  const arms = (receipt.arms ?? []).filter((record) => (record.steps ?? []).length > 0).slice(0, 8);
  const names = blockNames(arms);
  return arms.map((record, index) => ({
    name: `${which}, ${index + 1}: ${names[index]} ${record.arm}`,
    values: (record.steps ?? []).map((step) => step.wall_ms),
    side: record.block,
  }));
}

function sideRow(name: string, a: Receipt, b: Receipt, cell: (receipt: Receipt) => unknown): TemplateResult {
  return html`<tr>
    <th scope="row">${name}</th>
    <td class="long">${cell(a)}</td>
    <td class="long">${cell(b)}</td>
  </tr>`;
}

function valueText(value: unknown): string {
  if (value === undefined || value === null) return absent;
  return typeof value === "string" ? value : JSON.stringify(value);
}
