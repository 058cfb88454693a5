// All receipts, newest first, by filters that live in the address.

import { html, nothing, type TemplateResult } from "lit";
import { customElement, state } from "lit/decorators.js";
import { receiptTable } from "../components/receipt_table";
import { emptyState, whenReady } from "../components/states";
import { marksKey } from "../components/verdict";
import { View } from "../components/view";
import { LiveQuery } from "../data/live_query";
import { preset_order } from "../data/presets";
import { unreachable } from "../data/problem";
import type { Page, ReceiptFilter, ReceiptSummary } from "../data/source";
import { addressOf } from "../router";
import { compareAddress, most_compared } from "./compare_choice";

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
  /** Receipts chosen for a comparison, the baseline first. */
  @state() private chosen_: string[] = [];
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
    if (receipts.length === 0) return this.renderNone();
    const caption = `${receipts.length} ${receipts.length === 1 ? "receipt" : "receipts"}${next === undefined ? "" : ", more below"}`;
    const toggle = (id: string, on: boolean): void => {
      this.chosen_ = on ? [...this.chosen_, id] : this.chosen_.filter((other) => other !== id);
    };
    return html`${this.renderChosen()} ${receiptTable(receipts, this.router, caption, { chosen: this.chosen_, toggle })}
      ${marksKey()} ${this.more_problem_ === undefined ? nothing : html`<p role="alert">${this.more_problem_}</p>`}
      ${next === undefined ? nothing : html`<p><button @click=${() => this.loadMore(next)}>Load ${page_size} more</button></p>`}`;
  }

  private renderNone(): TemplateResult {
    const start = this.source.live ? html`<a href=${this.href("/runs")}>Start a run</a>: it leaves one when it ends.` : nothing;
    return this.shown_key_ === ""
      ? emptyState("No receipt yet", start)
      : emptyState("No receipt matches", html`<a href=${this.href(addressOf("receipts"))}>Show all receipts</a>, or loosen the filters.`);
  }

  private renderChosen(): TemplateResult {
    const count = this.chosen_.length;
    const words =
      count === 0
        ? "Tick two receipts or more to compare them."
        : count === 1
          ? "One is chosen as the baseline; tick another one."
          : count > most_compared
            ? `At most ${most_compared} can be compared at once.`
            : `${count} are chosen.`;
    return html`<p class="chosen" aria-live="polite">
      ${words}
      ${count < 2 || count > most_compared ? nothing : html`<a class="button primary" href=${this.href(compareAddress(this.chosen_))}>Compare these ${count}</a>`}
      ${count === 0
        ? nothing
        : html`<button
            @click=${() => {
              this.chosen_ = [];
            }}
          >
            Choose none
          </button>`}
    </p>`;
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
