// May these be compared? Two or more receipts, each against the first, and exactly why not where they may not.

import { html, nothing, type TemplateResult } from "lit";
import { customElement } from "lit/decorators.js";
import { emptyState, whenReady } from "../components/states";
import { View } from "../components/view";
import { LiveQuery } from "../data/live_query";
import { armPair } from "../data/matrix";
import { bySize } from "../data/presets";
import { Problem } from "../data/problem";
import type { Comparison, Page, ReceiptSummary } from "../data/source";
import { distinctNames, moment, ratio } from "../format";
import { openEnvelope } from "../verify/envelope";
import { comparedIds, compareAddress, most_compared, newestOfMachines } from "./compare_choice";
import { answers, differences, environment, type Compared } from "./compare_tables";
import { renderSides } from "./compare_sides";

@customElement("assay-compare-view")
export class CompareView extends View {
  private readonly choices_ = new LiveQuery<Page<ReceiptSummary>>(this, (signal) => this.source.receipts({ limit: 200 }, signal));
  private readonly compared_ = new LiveQuery<Compared[]>(this, (signal) => this.ask(signal));

  private async ask(signal: AbortSignal): Promise<Compared[]> {
    const ids = this.chosen();
    return Promise.all(
      ids.map(async (id, index) => {
        const [opened, comparison] = await Promise.all([
          this.source.receiptFile(id, signal).then(openEnvelope),
          index === 0 ? undefined : this.askComparison(ids[0]!, id, signal),
        ]);
        return { id, receipt: opened.receipt, comparison };
      }),
    );
  }

  private async askComparison(a: string, b: string, signal: AbortSignal): Promise<Comparison | undefined> {
    try {
      return await this.source.compare(a, b, signal);
    } catch (thrown) {
      if (thrown instanceof Problem && thrown.status === 404) return undefined;
      throw thrown;
    }
  }

  private chosen(): string[] {
    return comparedIds(this.route.query);
  }

  protected override willUpdate(): void {
    this.choices_.for("choices");
    const ids = this.chosen();
    if (ids.length > 1) this.compared_.for(ids.join(" "));
  }

  protected override render(): TemplateResult {
    return html`<div class="view-head">
        <div>
          <h1>Compare</h1>
          <p>Choose two receipts or more. The first question is whether they may be compared at all; each is held against the first.</p>
        </div>
      </div>
      ${whenReady(this.choices_, "the receipts", (page) => this.renderChoices(page.items))}
      ${this.chosen().length < 2 ? this.renderHint() : whenReady(this.compared_, "the comparison", (compared) => this.renderCompared(compared))}`;
  }

  private renderChoices(receipts: ReceiptSummary[]): TemplateResult {
    if (receipts.length === 0) {
      return emptyState(
        "Nothing to compare yet",
        this.source.live ? html`Two receipts are needed. <a href=${this.href("/runs")}>Start a run</a>, then another one.` : "Two receipts are needed.",
      );
    }
    const ids = this.chosen();
    const slots = Math.min(most_compared, Math.max(2, ids.length + 1));
    return html`<div class="sheet choices">
      ${Array.from({ length: slots }, (_, index) => this.renderChoice(index, ids, receipts))} ${this.renderMachines(receipts)}
    </div>`;
  }

  /** What is still to be done before there is an answer. */
  private renderHint(): TemplateResult | typeof nothing {
    const receipts = this.choices_.value?.items ?? [];
    if (receipts.length === 0) return nothing;
    if (receipts.length === 1) {
      return emptyState(
        "Two receipts are needed",
        this.source.live ? html`There is one so far. <a href=${this.href("/runs")}>Start another run</a>; the answer shows here.` : "This copy has only one.",
      );
    }
    const [first] = this.chosen();
    return emptyState(
      first === undefined ? "Choose two receipts above" : "Choose a second receipt above",
      "Whether they may be compared is answered here, with the reasons; then come the figures side by side and what differs.",
    );
  }

  private renderChoice(index: number, ids: readonly string[], receipts: ReceiptSummary[]): TemplateResult {
    const chosen = ids[index];
    const known = chosen === undefined || receipts.some((receipt) => receipt.id === chosen);
    const label = index === 0 ? "First, the baseline" : index === 1 ? "Second" : index < ids.length ? `Number ${index + 1}` : "Another one (optional)";
    const machines = distinctNames(receipts);
    const blank = index < 2 || chosen === undefined ? "choose a receipt" : "leave out";
    return html`<label class="field wide"
      >${label}
      <select ?disabled=${index > ids.length} @change=${(event: Event) => this.choose(index, (event.target as HTMLSelectElement).value)}>
        <option value="" ?selected=${chosen === undefined}>${blank}</option>
        ${known ? nothing : html`<option value=${chosen} selected>${chosen}</option>`}
        ${[...machines].map(
          ([machine_id, name]) =>
            html`<optgroup label=${name}>
              ${receipts
                .filter((receipt) => receipt.machine_id === machine_id && (receipt.id === chosen || !ids.includes(receipt.id)))
                .map((receipt) => html`<option value=${receipt.id} ?selected=${receipt.id === chosen}>${optionWords(receipt)}</option>`)}
            </optgroup>`,
        )}
      </select>
    </label>`;
  }

  /** Fills the choice with the newest receipt of every machine at one size. */
  private renderMachines(receipts: ReceiptSummary[]): TemplateResult | typeof nothing {
    const presets = [...new Set(receipts.map((receipt) => receipt.preset || ""))].filter((preset) => newestOfMachines(receipts, preset).length > 1);
    if (presets.length === 0) return nothing;
    return html`<label class="field wide"
      >Or the newest of every machine
      <select @change=${(event: Event) => this.chooseMachines(receipts, event.target as HTMLSelectElement)}>
        <option value="">choose a model size</option>
        ${presets.sort(bySize).map((preset) => html`<option value=${preset}>${preset || "custom"}, ${newestOfMachines(receipts, preset).length} machines</option>`)}
      </select>
    </label>`;
  }

  private chooseMachines(receipts: ReceiptSummary[], select: HTMLSelectElement): void {
    const chosen = newestOfMachines(receipts, select.value);
    select.value = "";
    if (chosen.length > 1) this.router.navigate(compareAddress(chosen.map((receipt) => receipt.id)), { replace: true });
  }

  private choose(index: number, id: string): void {
    const ids = [...this.chosen()];
    if (id === "") ids.splice(index, 1);
    else ids[index] = id;
    this.router.navigate(compareAddress(ids), { replace: true });
  }

  private renderCompared(compared: Compared[]): TemplateResult {
    const unreadable = compared.filter(({ receipt }) => receipt === undefined);
    return html`${unreadable.map(({ id }) => html`<p class="failed" role="alert">The file of ${id} could not be read.</p>`)}
      ${answers(compared)} ${renderSides(compared, (address) => this.href(address))} ${differences(compared)} ${environment(compared)}`;
  }
}

/** What tells a receipt from its neighbours in a narrow list comes first. */
function optionWords(receipt: ReceiptSummary): string {
  const figure = receipt.speedup === undefined ? "no ratio" : ratio(receipt.speedup);
  const label = receipt.label === undefined ? "" : ` “${receipt.label.slice(0, 40)}”`;
  return `${receipt.preset || "custom"}${label} ${figure}, ${moment(receipt.created_at)}, ${receipt.verdict}, ${armPair(receipt)}`;
}
