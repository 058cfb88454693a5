// The receipts of a comparison beside each other: their figures, and every step that they rest on.

import { html, nothing, type TemplateResult } from "lit";
import "../components/chart_figure";
import { ratioFigure } from "../components/figures";
import { evidenceMark, verdictMark } from "../components/verdict";
import { blockNames, type Receipt } from "../data/receipt";
import { absent, duration, moment, percent } from "../format";
import { addressOf } from "../router";
import { columnHeads, ordinal, table, type Compared } from "./compare_tables";

/** Blocks drawn of one receipt; the rest is in its own view. */
const drawn_blocks = 8;

export function renderSides(compared: readonly Compared[], href: (address: string) => string): TemplateResult | typeof nothing {
  if (compared.every(({ receipt }) => receipt === undefined)) return nothing;
  const row = (name: string, cell: (receipt: Receipt) => unknown): TemplateResult =>
    html`<tr>
      <th scope="row">${name}</th>
      ${compared.map(({ receipt }) => html`<td class="long">${receipt === undefined ? html`<span class="absent">unreadable</span>` : cell(receipt)}</td>`)}
    </tr>`;
  const groups = compared.flatMap(({ receipt }, index) => (receipt === undefined ? [] : blockGroups(ordinal(index), receipt)));
  return html`<section class="section stack">
    <h2>Side by side</h2>
    ${table(
      "Side by side",
      html`<td></td>
        ${columnHeads(compared.length)}`,
      html`${row("receipt", (receipt) => html`<a href=${href(addressOf("receipts", receipt.id))}>${moment(receipt.created_at)}</a><span class="sub"><code>${receipt.id}</code></span>`)}
        ${row("verdict", (receipt) => html`${verdictMark(receipt.verdict.result)} ${evidenceMark(receipt.evidence)}`)}
        ${row("machine", (receipt) => String(receipt.machine?.["hostname"] ?? absent))}
        ${row("label", (receipt) => receipt.request.label ?? absent)}
        ${row("preset", (receipt) => receipt.request.preset || "custom")}
        ${row("ratio", (receipt) => ratioFigure(figureOf(receipt)))}
        ${row("median step of A", (receipt) => html`<span class="side-a">${duration(receipt.analysis?.a_median_ms)}</span><span class="sub">${receipt.request.arms[0] ?? ""}</span>`)}
        ${row("median step of B", (receipt) => html`<span class="side-b">${duration(receipt.analysis?.b_median_ms)}</span><span class="sub">${receipt.request.arms[1] ?? ""}</span>`)}
        ${row("spread of repeats", (receipt) => `A ${percent(receipt.analysis?.repeat_spread?.a)}, B ${percent(receipt.analysis?.repeat_spread?.b)}`)}
        ${row("largest loss drift", (receipt) => percent(receipt.analysis?.max_loss_drift))}`,
    )}
    ${groups.length === 0
      ? nothing
      : html`<assay-chart
          heading="Distributions of step times"
          description="One line a block: each dot is one step (the first 500 of a block), each bar a median."
          .version=${compared.map(({ id }) => id).join(" ")}
          .draw=${async (width: number) => (await import("../charts/step_plots")).distributions(groups, width)}
          .legend=${html`<ul class="chart-key">
            <li class="side-a"><svg viewBox="0 0 20 10" aria-hidden="true"><circle cx="10" cy="5" r="4" fill="currentColor" /></svg>A, the baseline of its receipt</li>
            <li class="side-b"><svg viewBox="0 0 20 10" aria-hidden="true"><circle cx="10" cy="5" r="4" fill="currentColor" /></svg>B, what is compared with it</li>
          </ul>`}
        ></assay-chart>`}
  </section>`;
}

function figureOf(receipt: Receipt): { speedup?: number; interval95?: readonly number[] } {
  const { speedup, interval95 } = receipt.analysis ?? {};
  return { ...(speedup === undefined ? {} : { speedup }), ...(interval95 === undefined ? {} : { interval95 }) };
}

function blockGroups(which: string, receipt: Receipt): { name: string; values: number[]; side: "A" | "B" }[] {
  const arms = (receipt.arms ?? []).filter((record) => (record.steps ?? []).length > 0).slice(0, drawn_blocks);
  const names = blockNames(arms);
  return arms.map((record, index) => ({
    // The number keeps blocks of several quadruples apart.
    name: `${which} ${names[index]}${arms.length > 4 ? ` of ${record.quadruple + 1}` : ""}: ${record.arm}`,
    values: (record.steps ?? []).map((step) => step.wall_ms),
    side: record.block,
  }));
}
