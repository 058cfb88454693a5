// The parts of a comparison that are words and tables: the answer, what differs, the circumstances.

import { html, nothing, type TemplateResult } from "lit";
import { flatten } from "../components/figures";
import type { Receipt } from "../data/receipt";
import type { Comparison, Difference } from "../data/source";
import { absent, ratio, shortDigest } from "../format";

/** One receipt of a comparison. The first has no comparison: it is what the others are held against. */
export interface Compared {
  id: string;
  /** Absent where the file could not be read. */
  receipt: Receipt | undefined;
  /** Absent where nobody has compared this one with the first. */
  comparison: Comparison | undefined;
}

const switches_field = "browser.switches";

const ordinals = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"];

export function ordinal(index: number): string {
  return ordinals[index] ?? `number ${index + 1}`;
}

/** May they be compared, and what does the comparison say? */
export function answers(compared: readonly Compared[]): TemplateResult {
  const others = compared.slice(1);
  const allowed = others.filter(({ comparison }) => comparison?.comparable === true).length;
  const unknown = others.filter(({ comparison }) => comparison === undefined).length;
  const what = unknown > 0 && allowed + unknown === others.length ? "unknown" : String(allowed === others.length);
  return html`<section class="sheet section" data-comparable=${what} aria-live="polite">
    <h2>${headline(others.length, allowed, unknown)}</h2>
    ${others.map(({ comparison }, index) => renderAnswer(comparison, index + 1, others.length > 1))}
  </section>`;
}

function headline(others: number, allowed: number, unknown: number): TemplateResult {
  if (others === 1 && unknown === 1) return html`Whether these two may be compared is not known here`;
  if (others === 1) {
    return allowed === 1
      ? html`<span class="passed"><span aria-hidden="true">✓</span> These two may be compared</span>`
      : html`<span class="failed"><span aria-hidden="true">✗</span> These two may not be compared</span>`;
  }
  if (allowed === others) return html`<span class="passed"><span aria-hidden="true">✓</span> All of these may be compared with the first</span>`;
  return html`<span class="failed"><span aria-hidden="true">✗</span> ${allowed} of these ${others} may be compared with the first</span>`;
}

function renderAnswer(comparison: Comparison | undefined, index: number, of_many: boolean): TemplateResult {
  const name = `The ${ordinal(index)}`;
  if (comparison === undefined) return of_many ? html`<h3>${name}: not known here</h3>` : html``;
  return html`${of_many
      ? html`<h3 class=${comparison.comparable ? "passed" : "failed"}>${comparison.comparable ? "✓" : "✗"} ${name} ${comparison.comparable ? "may" : "may not"}</h3>`
      : nothing}
    ${renderReasons(comparison)}
    ${comparison.comparable ? renderRatios(comparison, name) : html`<p class="sub">No ratio is shown: it would compare what must not be compared.</p>`}`;
}

/** Each reason once, with the fields that it holds for. */
function renderReasons(comparison: Comparison): TemplateResult | typeof nothing {
  const by_why = new Map<string, Difference[]>();
  for (const difference of comparison.differences) {
    if (difference.blocks === true) by_why.set(difference.why ?? "", [...(by_why.get(difference.why ?? "") ?? []), difference]);
  }
  if (by_why.size === 0) {
    return comparison.reasons.length === 0 ? nothing : html`<ul class="reasons">${comparison.reasons.map((reason) => html`<li>${reason.message}</li>`)}</ul>`;
  }
  return html`<ul class="reasons">
    ${[...by_why].map(
      ([why, fields]) =>
        html`<li>
          ${why}
          <span class="sub">${fields.map(({ field, a, b }, index) => html`${index === 0 ? "" : "; "}<code>${field}</code> ${valueText(a)} against ${valueText(b)}`)}</span>
        </li>`,
    )}
  </ul>`;
}

function renderRatios(comparison: Comparison, name: string): TemplateResult {
  const figure = (value: number | undefined, interval: [number, number] | undefined): TemplateResult =>
    html`<b>${ratio(value)}</b> <span class="ratio-range">${interval === undefined ? "a point without an interval" : `95 % interval ${ratio(interval[0])} to ${ratio(interval[1])}`}</span>`;
  return html`<dl class="facts">
    ${comparison.ratio === undefined
      ? nothing
      : html`<div><dt>${name}'s speed-up over the first's</dt><dd>${figure(comparison.ratio, comparison.ratio_interval)}</dd></div>`}
    ${comparison.a_ratio === undefined ? nothing : html`<div><dt>How much faster its A ran</dt><dd>${figure(comparison.a_ratio, comparison.a_ratio_interval)}</dd></div>`}
    ${comparison.b_ratio === undefined ? nothing : html`<div><dt>How much faster its B ran</dt><dd>${figure(comparison.b_ratio, comparison.b_ratio_interval)}</dd></div>`}
  </dl>`;
}

/** What bears on the comparison, one row a field, one column a receipt. */
export function differences(compared: readonly Compared[]): TemplateResult | typeof nothing {
  if (compared.every(({ comparison }) => comparison === undefined)) return nothing;
  interface Row {
    values: (unknown | undefined)[];
    why: string;
    blocks: boolean;
  }
  const rows = new Map<string, Row>();
  compared.forEach(({ comparison }, index) => {
    for (const { field, a, b, why, blocks } of comparison?.differences ?? []) {
      const row = rows.get(field) ?? { values: [a], why: why ?? "", blocks: false };
      row.values[index] = b;
      row.blocks ||= blocks === true;
      rows.set(field, row);
    }
  });
  const sorted = [...rows].sort(([, one], [, other]) => Number(other.blocks) - Number(one.blocks));
  return html`<section class="section">
    <h2>What differs</h2>
    ${sorted.length === 0
      ? html`<p>Nothing that bears on the comparison.</p>`
      : table(
          "What differs",
          html`<th scope="col">field</th>
            ${columnHeads(compared.length)}
            <th scope="col">why it matters</th>`,
          sorted.map(
            ([field, { values, why, blocks }]) =>
              html`<tr>
                <th scope="row" class="long">
                  <code>${field}</code>${blocks ? html`<span class="sub failed">forbids it</span>` : html`<span class="sub">allowed to differ</span>`}
                </th>
                ${compared.map((_, index) => html`<td class="long">${values[index] === undefined ? html`<span class="absent">the same</span>` : valueText(values[index])}</td>`)}
                <td class="long">${why}</td>
              </tr>`,
          ),
        )}
  </section>`;
}

/** Every recorded fact that is not the same everywhere. */
export function environment(compared: readonly Compared[]): TemplateResult | typeof nothing {
  if (compared.filter(({ receipt }) => receipt !== undefined).length < 2) return nothing;
  const facts = compared.map(({ receipt }) =>
    receipt === undefined
      ? new Map<string, string>()
      : new Map(flatten({ machine: receipt.machine, browser: receipt.browser, environment: receipt.environment, adapter: receipt.adapter?.page })),
  );
  const names = [...new Set(facts.flatMap((own) => [...own.keys()]))].filter((name) => new Set(facts.map((own) => own.get(name))).size > 1);
  const switches = differingItems(compared.map(({ receipt }) => receipt?.browser?.switches ?? []));
  return html`<section class="section">
    <h2>Environment, where it differs</h2>
    ${names.length === 0
      ? html`<p>All were measured under the same recorded circumstances.</p>`
      : table(
          "Environment, where it differs",
          html`<th scope="col">fact</th>
            ${columnHeads(compared.length)}`,
          names.map(
            (name) =>
              html`<tr>
                <th scope="row" class="long"><code>${name}</code>${name === switches_field ? html`<span class="sub">those that are not everywhere</span>` : nothing}</th>
                ${facts.map((own, index) => html`<td class="long">${name === switches_field ? switches[index] : briefly(own.get(name) ?? absent)}</td>`)}
              </tr>`,
          ),
        )}
  </section>`;
}

export function columnHeads(count: number): TemplateResult[] {
  return Array.from({ length: count }, (_, index) => html`<th scope="col">${ordinal(index)}</th>`);
}

export function table(name: string, head: unknown, rows: unknown): TemplateResult {
  return html`<div class="table-scroll" tabindex="0" role="region" aria-label=${name}>
    <table>
      <thead>
        <tr>
          ${head}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

function valueText(value: unknown): string {
  if (value === undefined || value === null) return absent;
  return typeof value === "string" ? briefly(value) : JSON.stringify(value);
}

/** A digest by its beginning, a measured number by the digits that anybody reads; the receipts have both whole. */
function briefly(text: string): string {
  if (/^[0-9a-f]{64}$/.test(text)) return `${shortDigest(text)}…`;
  return /^-?\d+\.\d{5,}(e[-+]?\d+)?$/.test(text) ? String(Number(Number(text).toPrecision(4))) : text;
}

/** The items of each list that are not in all of them. */
function differingItems(lists: readonly (readonly string[])[]): string[] {
  return lists.map((own) => own.filter((item) => !lists.every((list) => list.includes(item))).join(" ") || "nothing further");
}
