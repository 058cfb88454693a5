// All receipts, newest first, by filters that live in the address.

import { html, nothing, type TemplateResult } from "lit";
import { customElement, state } from "lit/decorators.js";
import { receiptTable } from "../components/receipt_table";
import { emptyState, whenReady } from "../components/states";
import { View } from "../components/view";
import { LiveQuery } from "../data/live_query";
import { preset_order } from "../data/presets";
import { unreachable } from "../data/problem";
import type { Page, ReceiptFilter, ReceiptSummary } from "../data/source";
import { addressOf } from "../router";

const page_size = 50;
const filter_names = ["machine", "preset", "verdict", "evidence", "label"] as const;

const choices: Record<"preset" | "verdict" | "evidence", string[]> = {
  preset: preset_order,
  verdict: ["verified", "unqualified", "refused", "inconclusive", "invalid", "failed"],
  evidence: ["measured", "derived", "observed", "historical", "projected", "not-measured"],
};

@customElement("assay-receipts-view")
export class ReceiptsView extends View {
  /** Pages after the first, which the query holds. */
  @state() private more_: Page<ReceiptSummary>[] = [];
  @state() private more_problem_: string | undefined;
  private readonly first_ = new LiveQuery<Page<ReceiptSummary>>(this, (signal) => this.source.receipts(this.filter(), signal));
  private shown_key_ = "";

  private filter(): ReceiptFilter {
    const filter: ReceiptFilter = { limit: page_size };
    for (const name of filter_names) {
      const value = this.route.query.get(name);
      if (value !== null && value !== "") filter[name] = value;
    }
    return filter;
  }

  protected override willUpdate(): void {
    const key = this.route.query.toString();
    if (key !== this.shown_key_) {
      this.shown_key_ = key;
      this.more_ = [];
    }
    this.first_.for(`filter ${key}`);
  }

  protected override render(): TemplateResult {
    return html`<div class="view-head">
        <div>
          <h1>Receipts</h1>
          <p>Every run leaves one, refused and failed runs included.</p>
        </div>
      </div>
      <form class="filters" @change=${this.applyFilter} @submit=${this.applyFilter}>
        ${(["preset", "verdict", "evidence"] as const).map((name) => this.renderChoice(name))}
        <label class="field">Machine id <input name="machine" .value=${this.route.query.get("machine") ?? ""} /></label>
        <label class="field">Label <input name="label" .value=${this.route.query.get("label") ?? ""} /></label>
        <button type="submit">Apply</button>
      </form>
      ${whenReady(this.first_, "the receipts", (first) => this.renderList(first))}`;
  }

  private renderChoice(name: "preset" | "verdict" | "evidence"): TemplateResult {
    const chosen = this.route.query.get(name) ?? "";
    return html`<label class="field"
      >${name[0]!.toUpperCase() + name.slice(1)}
      <select name=${name}>
        <option value="">any</option>
        ${choices[name].map((choice) => html`<option value=${choice} ?selected=${choice === chosen}>${choice}</option>`)}
      </select>
    </label>`;
  }

  private renderList(first: Page<ReceiptSummary>): TemplateResult {
    const receipts = [first, ...this.more_].flatMap((page) => page.items);
    const next = (this.more_.at(-1) ?? first).next;
    if (receipts.length === 0) return emptyState("No receipt matches", "Loosen the filters, or start a run.");
    return html`${receiptTable(receipts, this.router, `${receipts.length} ${receipts.length === 1 ? "receipt" : "receipts"}${next === undefined ? "" : ", more below"}`)}
      ${this.more_problem_ === undefined ? nothing : html`<p role="alert">${this.more_problem_}</p>`}
      ${next === undefined ? nothing : html`<p><button @click=${() => this.loadMore(next)}>Load ${page_size} more</button></p>`}`;
  }

  private async loadMore(cursor: string): Promise<void> {
    const key = this.shown_key_;
    try {
      const page = await this.source.receipts({ ...this.filter(), cursor }, new AbortController().signal);
      if (key === this.shown_key_) this.more_ = [...this.more_, page];
      this.more_problem_ = undefined;
    } catch (thrown) {
      this.more_problem_ = thrown instanceof Error ? thrown.message : unreachable(thrown).title;
    }
  }

  private applyFilter(event: Event): void {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const query = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value).trim()]));
    this.router.navigate(addressOf("receipts", undefined, query), { replace: true });
  }
}
