// Receipts as rows, the same wherever they are listed.

import { html, nothing, type TemplateResult } from "lit";
import type { ReceiptSummary } from "../data/source";
import { duration, machineName, moment, percent } from "../format";
import { addressOf, type Router } from "../router";
import { clamped, ratioFigure } from "./figures";
import { evidenceMark, verdictMark } from "./verdict";

/** Lets rows be chosen, for a comparison. */
export interface RowChoice {
  chosen: readonly string[];
  toggle: (id: string, on: boolean) => void;
}

export function receiptTable(receipts: readonly ReceiptSummary[], router: Router, caption: string, choice?: RowChoice): TemplateResult {
  return html`<div class="table-scroll" tabindex="0" role="region" aria-label=${caption}>
    <table class="cards">
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${choice === undefined ? nothing : html`<th scope="col">compare</th>`}
          <th scope="col">when</th>
          <th scope="col">verdict</th>
          <th scope="col">preset</th>
          <th scope="col">machine</th>
          <th scope="col">ratio</th>
          <th scope="col" class="number">A</th>
          <th scope="col" class="number">B</th>
          <th scope="col" class="number">drift</th>
          <th scope="col">arms</th>
        </tr>
      </thead>
      <tbody>
        ${receipts.map(
          (receipt) =>
            html`<tr>
              ${choice === undefined ? nothing : html`<td class="choose">${checkbox(receipt, choice)}</td>`}
              <th scope="row">
                <a href=${router.href(addressOf("receipts", receipt.id))}>${moment(receipt.created_at)}</a>
                ${receipt.label === undefined ? nothing : html`<span class="sub long">${clamped(receipt.label)}</span>`}
              </th>
              <td class="whole">
                ${verdictMark(receipt.verdict)} ${receipt.evidence === "measured" ? nothing : evidenceMark(receipt.evidence)}
                ${receipt.verdict === "verified" || receipt.first_reason === undefined
                  ? nothing
                  : html`<span class="sub long">${clamped(receipt.first_reason)}</span>`}
              </td>
              <td data-name="preset">${receipt.preset || "custom"}</td>
              <td data-name="machine" class="long">${clamped(machineName(receipt))}</td>
              <td data-name="ratio">${ratioFigure(receipt)}</td>
              <td data-name="A" class="number">${duration(receipt.a_median_ms)}</td>
              <td data-name="B" class="number">${duration(receipt.b_median_ms)}</td>
              <td data-name="drift" class="number">${percent(receipt.max_loss_drift)}</td>
              <td data-name="arms" class="long whole">${receipt.arm_a} / ${receipt.arm_b}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function checkbox(receipt: ReceiptSummary, choice: RowChoice): TemplateResult {
  return html`<label class="tick"
    ><input
      type="checkbox"
      .checked=${choice.chosen.includes(receipt.id)}
      @change=${(event: Event) => choice.toggle(receipt.id, (event.target as HTMLInputElement).checked)} /><span class="visually-hidden"
      >Compare the receipt of ${moment(receipt.created_at)}</span
    ></label
  >`;
}
