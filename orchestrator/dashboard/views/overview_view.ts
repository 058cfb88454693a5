// Machines by presets at a glance, last night, and what needs a look.

import { html, nothing, type TemplateResult } from "lit";
import { customElement } from "lit/decorators.js";
import { clamped, ratioFigure } from "../components/figures";
import { receiptTable } from "../components/receipt_table";
import { emptyState, whenReady } from "../components/states";
import { evidenceMark, marksKey, verdictMark } from "../components/verdict";
import { View } from "../components/view";
import { LiveQuery } from "../data/live_query";
import { armPair, armPairs, buildMatrix, pointOf, type Cell } from "../data/matrix";
import type { VerdictResult } from "../data/receipt";
import type { CurvePoint, Page, ReceiptSummary } from "../data/source";
import { ago } from "../format";
import { addressOf } from "../router";

const refresh_ms = 30_000;
const newest_limit = 50;
const shown_of_last_night = 12;
const shown_of_quiet_times = 5;
const day_ms = 86_400_000;

@customElement("assay-overview-view")
export class OverviewView extends View {
  private readonly newest_ = new LiveQuery<Page<ReceiptSummary>>(this, (signal) => this.source.receipts({ limit: newest_limit }, signal), refresh_ms);
  private readonly points_ = new LiveQuery<CurvePoint[]>(this, (signal) => this.source.curve(signal), refresh_ms);

  protected override willUpdate(): void {
    this.newest_.for("newest");
    this.points_.for("points");
  }

  protected override render(): TemplateResult {
    return html`<div class="view-head">
        <div>
          <h1>Overview</h1>
          <p>The newest figure of every machine and model size. Each one opens its receipt.</p>
        </div>
        ${this.source.live ? html`<a class="button" href=${this.href("/runs")}>Start a run</a>` : nothing}
      </div>
      ${whenReady(this.points_, "the machines", (points) => this.renderMatrix(points))}
      ${whenReady(this.newest_, "the newest receipts", (page) => this.renderNewest(page.items))}`;
  }

  private renderMatrix(points: CurvePoint[]): TemplateResult {
    // The curve has figures only; what was refused or failed last is a fact about its machine too.
    const without_figure = (this.newest_.value?.items ?? []).filter((receipt) => receipt.speedup === undefined).map(pointOf);
    const all = [...points, ...without_figure];
    if (all.length === 0) return this.renderEmpty();
    const pairs = armPairs(all);
    const wanted = this.route.query.get("arms");
    const pair = wanted !== null && pairs.includes(wanted) ? wanted : pairs[0]!;
    const matrix = buildMatrix(all.filter((point) => armPair(point) === pair));
    return html`<div class="filters">
        <label class="field"
          >Arms (A / B)
          <select @change=${(event: Event) => this.choosePair((event.target as HTMLSelectElement).value)}>
            ${pairs.map((name) => html`<option value=${name} ?selected=${name === pair}>${name}</option>`)}
          </select>
        </label>
      </div>
      <div class="table-scroll" tabindex="0" role="region" aria-label="Machines by presets">
        <table class="matrix">
          <caption>
            Speed-up of B over A: ${pair}
          </caption>
          <thead>
            <tr>
              <th scope="col">machine</th>
              ${matrix.presets.map((preset) => html`<th scope="col">${preset}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${matrix.machines.map(
              (machine) =>
                html`<tr>
                  <th scope="row" class="long">${clamped(machine.name)}</th>
                  ${matrix.presets.map((preset) => html`<td>${this.renderCell(machine.cells.get(preset))}</td>`)}
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
      ${marksKey()}`;
  }

  private renderEmpty(): TemplateResult {
    if (!this.source.live) return emptyState("No receipt yet", "This copy was written without receipts.");
    return html`<div class="empty">
      <h2>No receipt yet</h2>
      <p>A measurement leaves a signed receipt with every sample in it, and every receipt shows here.</p>
      <ol>
        <li>
          <a href=${this.href("/runs")}>Start the first run</a>, as the form proposes it: the smallest model takes less than a minute. Or run
          <code>assay run</code> on this machine.
        </li>
        <li>Watch it; when it has ended, open its receipt. The page checks the signature and recomputes every figure.</li>
        <li>Start a second one, and ask <a href=${this.href("/compare")}>Compare</a> whether the two may be compared.</li>
      </ol>
    </div>`;
  }

  private renderCell(cell: Cell | undefined): TemplateResult {
    if (cell === undefined) return html`<span class="absent" title="not measured"><span aria-hidden="true">–</span><span class="visually-hidden">not measured</span></span>`;
    const { newest } = cell;
    const inside = html`${ratioFigure(newest)}
      <span class="sub">${newest.verdict === undefined ? nothing : verdictMark(newest.verdict)} ${evidenceMark(newest.evidence)}</span>`;
    return newest.receipt_id === undefined
      ? html`<div>${inside}</div>`
      : html`<a href=${this.href(addressOf("receipts", newest.receipt_id))}>${inside}</a>`;
  }

  private choosePair(arms: string): void {
    this.router.navigate(addressOf("overview", undefined, { arms }), { replace: true });
  }

  private renderNewest(receipts: ReceiptSummary[]): TemplateResult | typeof nothing {
    if (receipts.length === 0) return nothing;
    const since = Date.now() - day_ms;
    const recent = receipts.filter((receipt) => Date.parse(receipt.created_at) >= since);
    const listed = this.source.live && recent.length === 0 ? receipts.slice(0, shown_of_quiet_times) : (this.source.live ? recent : receipts).slice(0, shown_of_last_night);
    return html`<section class="section">
        ${this.source.live ? this.renderLastDay(receipts, recent, listed) : html`<h2>Newest receipts</h2>
              ${receiptTable(listed, this.router, "The newest of this copy")}`}
        <p><a href=${this.href("/receipts")}>All receipts</a></p>
      </section>
      <section class="section">
        <h2>What needs a look</h2>
        ${this.renderTroubled(receipts, new Set(listed.map(({ id }) => id)))}
      </section>`;
  }

  /** Measurements that did not end well; published figures that nobody here can check are no news. */
  private renderTroubled(receipts: ReceiptSummary[], listed: ReadonlySet<string>): TemplateResult {
    const troubled = receipts.filter((receipt) => receipt.verdict !== "verified" && receipt.evidence === "measured");
    if (troubled.length === 0) return html`<p>Nothing: every measurement among the newest ${receipts.length} receipts is verified.</p>`;
    const further = troubled.filter(({ id }) => !listed.has(id));
    const above = troubled.length - further.length;
    return html`${above === 0 ? nothing : html`<p>${above === 1 ? "One receipt" : `${above} receipts`} in the list above: ${above === 1 ? "it is" : "they are"} not verified, and the reason stands beside the verdict.</p>`}
      ${further.length === 0 ? nothing : receiptTable(further.slice(0, shown_of_last_night), this.router, "Receipts that are not verified, newest first")}`;
  }

  private renderLastDay(receipts: ReceiptSummary[], recent: ReceiptSummary[], listed: ReceiptSummary[]): TemplateResult {
    return html`<h2>The last 24 hours</h2>
      ${recent.length === 0
        ? html`<p>Nothing ran. The newest receipt is from ${ago(receipts[0]!.created_at)}.</p>
            ${receiptTable(listed, this.router, "The newest before that")}`
        : html`${this.renderCounts(recent, receipts.length === newest_limit && recent.length === newest_limit)} ${receiptTable(listed, this.router, "Newest receipts")}`}`;
  }

  private renderCounts(recent: ReceiptSummary[], more: boolean): TemplateResult {
    const counts = new Map<VerdictResult, number>();
    for (const { verdict } of recent) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
    return html`<p class="counts">
      <span>${more ? "At least " : ""}${recent.length} ${recent.length === 1 ? "receipt" : "receipts"}:</span>
      ${[...counts].map(([verdict, number]) => html`<span>${number} ${verdictMark(verdict)}</span>`)}
    </p>`;
  }
}
