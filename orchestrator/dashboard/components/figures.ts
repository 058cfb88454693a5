// A ratio with what qualifies it. A bare number never stands alone.

import { html, type TemplateResult } from "lit";
import { ratio } from "../format";

interface Ratio {
  speedup?: number;
  interval95?: readonly number[];
  precision?: string;
}

/** "9.10 to 9.50×": the sign once, at the end. */
export function intervalWords([low, high]: readonly number[]): string {
  return `${ratio(low).replace("×", "")} to ${ratio(high)}`;
}

/** A text of any length in three lines; all of it on hovering. */
export function clamped(text: string): TemplateResult {
  return html`<span class="clamp" title=${text}>${text}</span>`;
}

/** "9.31×  9.10 to 9.50×", or "9.31× point" where there is no interval; marksKey() explains both. */
export function ratioFigure(value: Ratio): TemplateResult {
  if (value.speedup === undefined) return html`<span class="ratio ratio-absent">no ratio</span>`;
  const range = value.interval95
    ? html`<span class="ratio-range" title="95 % interval over quadruples">${intervalWords(value.interval95)}</span>`
    : html`<span class="ratio-range" title="one or two quadruples: no interval, judged by the spread of repeats">point</span>`;
  return html`<span class="ratio"><b>${ratio(value.speedup)}</b> ${range}</span>`;
}

/** Facts as a list of terms; nested ones become rows of "outer.inner". */
export function factList(facts: object | undefined): TemplateResult {
  if (facts === undefined || Object.keys(facts).length === 0) return html`<p class="absent">Not recorded.</p>`;
  return html`<dl class="facts">
    ${flatten(facts).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}

export function flatten(facts: object, prefix = ""): [string, string][] {
  return Object.entries(facts).flatMap(([name, value]: [string, unknown]): [string, string][] => {
    const full = prefix === "" ? name : `${prefix}.${name}`;
    if (value === null || value === undefined) return [];
    if (Array.isArray(value)) {
      const plain = value.every((item) => typeof item !== "object" || item === null);
      return plain ? [[full, value.join(", ")]] : value.flatMap((item, index) => flatten({ [index]: item as unknown }, full));
    }
    if (typeof value === "object") return flatten(value, full);
    return [[full, String(value)]];
  });
}
