// The tables of a receipt's page: one row a block, and one row a step.

import { html, nothing, type TemplateResult } from "lit";
import { blockNames, type Receipt } from "../data/receipt";
import { absent, duration, loss } from "../format";
import { blockMedian } from "../verify/recompute";

/** Rows shown before the reader asks for all of them. */
const first_rows = 100;
/** More blocks than this scroll in a window of their own. */
const most_rows_at_once = 12;

export function armTable(receipt: Receipt): TemplateResult {
  const arms = receipt.arms ?? [];
  const names = blockNames(arms);
  const has_quadruples = arms.some((record) => record.quadruple > 0);
  return html`<div class=${arms.length > most_rows_at_once ? "table-scroll tall" : "table-scroll"} tabindex="0" role="region" aria-label="Blocks in the order they ran">
    <table>
      <caption>
        Blocks in the order they ran
      </caption>
      <thead>
        <tr>
          <th scope="col">block</th>
          ${has_quadruples ? html`<th scope="col" class="number">quadruple</th>` : nothing}
          <th scope="col">arm</th>
          <th scope="col" class="number">median</th>
          <th scope="col" class="number">fastest</th>
          <th scope="col" class="number">slowest</th>
          <th scope="col" class="number">final loss</th>
          <th scope="col" class="number">cold start</th>
          <th scope="col" class="number">steps</th>
          <th scope="col">outcome</th>
        </tr>
      </thead>
      <tbody>
        ${arms.map((record, index) => {
          const times = (record.steps ?? []).map((step) => step.wall_ms);
          const extreme = (pick: (a: number, b: number) => number): string =>
            times.length === 0 ? absent : duration(times.reduce((a, b) => pick(a, b)));
          return html`<tr>
            <th scope="row" class=${record.block === "A" ? "side-a" : "side-b"}>${names[index]}</th>
            ${has_quadruples ? html`<td class="number">${record.quadruple + 1}</td>` : nothing}
            <td class="long">${record.arm}${record.threads === undefined ? nothing : html` <span class="sub">${record.threads} ${record.threads === 1 ? "thread" : "threads"}</span>`}</td>
            <td class="number">${duration(blockMedian(record))}</td>
            <td class="number">${extreme(Math.min)}</td>
            <td class="number">${extreme(Math.max)}</td>
            <td class="number">${loss(record.final_loss ?? record.steps?.at(-1)?.loss)}</td>
            <td class="number">${duration(record.cold_start_ms)}</td>
            <td class="number">${times.length}</td>
            <td class="long">${(record.errors ?? []).length === 0 ? "finished" : (record.errors ?? []).join("; ")}</td>
          </tr>`;
        })}
      </tbody>
    </table>
  </div>`;
}

export function stepTable(receipt: Receipt, show_all: boolean, showAll: () => void): TemplateResult {
  const arms = receipt.arms ?? [];
  const names = blockNames(arms);
  const rows = Math.max(0, ...arms.map((record) => record.steps?.length ?? 0));
  const shown = show_all ? rows : Math.min(rows, first_rows);
  const columns = arms.slice(0, 24);
  return html`<table>
      <caption>
        Milliseconds and loss of each step${columns.length < arms.length ? `, the first ${columns.length} of ${arms.length} blocks` : ""}
      </caption>
      <thead>
        <tr>
          <th scope="col" class="number">step</th>
          ${columns.map(
            (record, index) =>
              html`<th scope="col" class="number">${names[index]} ms<span class="visually-hidden"> of ${record.arm}</span></th>
                <th scope="col" class="number">${names[index]} loss</th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${Array.from(
          { length: shown },
          (_, row) =>
            html`<tr>
              <th scope="row" class="number">${row + 1}</th>
              ${columns.map((record) => {
                const step = record.steps?.[row];
                return html`<td class="number">${step === undefined ? absent : step.wall_ms.toFixed(3)}</td>
                  <td class="number">${loss(step?.loss)}</td>`;
              })}
            </tr>`,
        )}
      </tbody>
    </table>
    ${shown < rows ? html`<button @click=${showAll}>Show all ${rows} steps</button>` : nothing}`;
}
