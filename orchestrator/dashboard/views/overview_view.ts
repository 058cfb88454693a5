// Machines by presets at a glance, last night, and what needs a look.

import { html, nothing, type TemplateResult } from "lit";
import { customElement } from "lit/decorators.js";
import { ratioFigure } from "../components/figures";
import { receiptTable } from "../components/receipt_table";
import { emptyState, whenReady } from "../components/states";
import { evidenceMark, marksKey, verdictMark } from "../components/verdict";
import { View } from "../components/view";
import { LiveQuery } from "../data/live_query";
import { armPair, armPairs, buildMatrix, pointOf, type Cell } from "../data/matrix";
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
                  <th scope="row" class="long">${machine.name}</th>
                  ${matrix.presets.map((preset) => html`<td>${this.renderCell(machine.cells.get(preset))}</td>`)}
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
      ${marksKey()}`;
  }

  private renderEmpty(): TemplateResult {
    return emptyState(
        "No receipt yet",
        this.source.live
          ? html`A measurement leaves a signed receipt, and every receipt shows here.
              <a href=${this.href("/runs")}>Start the first run</a>, or run <code>assay run</code> on this machine.`
          : "This copy was written without receipts.",
      );
  }

  private renderCell(cell: Cell | undefined): TemplateResult {
    if (cell === undefined) return html`<span class="absent">not measured</span>`;
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
    const troubled = receipts.filter((receipt) => receipt.verdict !== "verified").slice(0, shown_of_last_night);
    return html`<section class="section">
        ${this.source.live ? this.renderLastDay(receipts, recent) : this.renderCopy(receipts)}
        <p><a href=${this.href("/receipts")}>All receipts</a></p>
      </section>
      <section class="section">
        <h2>What needs a look</h2>
        ${troubled.length === 0
          ? html`<p>Nothing: each of the newest ${receipts.length} receipts is verified.</p>`
          : receiptTable(troubled, this.router, "Receipts that are not verified, newest first")}
      </section>`;
  }

  private renderLastDay(receipts: ReceiptSummary[], recent: ReceiptSummary[]): TemplateResult {
    return html`<h2>The last 24 hours</h2>
      ${recent.length === 0
        ? html`<p>Nothing ran. The newest receipt is from ${ago(receipts[0]!.created_at)}.</p>
            ${receiptTable(receipts.slice(0, shown_of_quiet_times), this.router, "The newest before that")}`
        : html`<p>${this.countWords(recent, receipts.length === newest_limit && recent.length === newest_limit)}</p>
            ${receiptTable(recent.slice(0, shown_of_last_night), this.router, "Newest receipts")}`}`;
  }

  /** A static copy has no last night: its newest receipts are as old as it is. */
  private renderCopy(receipts: ReceiptSummary[]): TemplateResult {
    return html`<h2>Newest receipts</h2>
      ${receiptTable(receipts.slice(0, shown_of_last_night), this.router, "The newest of this copy")}`;
  }

  private countWords(recent: ReceiptSummary[], more: boolean): string {
    const counts = new Map<string, number>();
    for (const receipt of recent) counts.set(receipt.verdict, (counts.get(receipt.verdict) ?? 0) + 1);
    const words = [...counts].map(([verdict, number]) => `${number} ${verdict}`).join(", ");
    return `${more ? "At least " : ""}${recent.length} ${recent.length === 1 ? "receipt" : "receipts"}: ${words}.`;
  }
}
