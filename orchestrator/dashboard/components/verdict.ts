// Verdict and evidence, told by shape and word as well as by colour.

import { html, svg, type SVGTemplateResult, type TemplateResult } from "lit";
import type { Evidence, VerdictResult } from "../data/receipt";

const shapes: Record<VerdictResult, SVGTemplateResult> = {
  // An octagon like a hallmark's punch, with a tick.
  verified: svg`<path d="M6 1h8l5 5v8l-5 5H6l-5-5V6z"/><path class="sign" d="M5.5 10.5l3 3 6-7"/>`,
  unqualified: svg`<path class="hollow" d="M10 1.5L18.5 10 10 18.5 1.5 10z"/><path class="sign on-hollow" d="M10 6v5M10 13.4v.8"/>`,
  refused: svg`<circle cx="10" cy="10" r="9"/><path class="sign" d="M4.5 10h11"/>`,
  inconclusive: svg`<circle class="hollow" cx="10" cy="10" r="8.2"/><path class="sign on-hollow" d="M5 11c1.6-3 3.4-3 5-1s3.4 2 5-1"/>`,
  invalid: svg`<path d="M2 2h16v16H2z"/><path class="sign" d="M6 6l8 8M14 6l-8 8"/>`,
  failed: svg`<path d="M10 1.5L19 18H1z"/><path class="sign" d="M10 7.5v5M10 14.8v.6"/>`,
};

export const verdict_meaning: Record<VerdictResult, string> = {
  verified: "ran on the hardware asked for and is precise enough",
  unqualified: "ran, but the adapter policy was not met: not a claim about this hardware",
  refused: "the gate said no, no arm ran",
  inconclusive: "ran, but is not precise enough",
  invalid: "inputs differ, drift over budget or errors: the numbers do not count",
  failed: "the run broke off",
};

export function verdictMark(verdict: VerdictResult | undefined): TemplateResult {
  if (verdict === undefined) return html`<span class="verdict">no verdict</span>`;
  const shape = shapes[verdict] as SVGTemplateResult | undefined;
  return html`<span class="verdict verdict-${shape === undefined ? "unknown" : verdict}" title=${verdict_meaning[verdict] ?? ""}
    ><svg viewBox="0 0 20 20" width="16" height="16" aria-hidden="true">${shape ?? ""}</svg>${verdict}</span
  >`;
}

export const evidence_meaning: Record<Evidence, string> = {
  measured: "every sample is in the receipt",
  derived: "computed from measured receipts",
  observed: "seen once; the raw samples are not here",
  historical: "published earlier, by others; not checked here",
  projected: "an extrapolation, not a measurement",
  "not-measured": "nobody has measured this",
};

export function evidenceMark(evidence: Evidence | undefined): TemplateResult {
  const known = evidence !== undefined && evidence in evidence_meaning;
  return html`<span class="evidence evidence-${known ? evidence : "unknown"}" title=${known ? evidence_meaning[evidence] : ""}
    >${evidence ?? "unknown"}</span
  >`;
}

/** Every mark with its meaning, folded away. */
export function marksKey(): TemplateResult {
  return html`<details class="inline">
    <summary>What the marks mean</summary>
    <div class="columns inside">
      <dl class="facts">
        ${Object.entries(verdict_meaning).map(([verdict, meaning]) => html`<div><dt>${verdictMark(verdict as VerdictResult)}</dt><dd>${meaning}</dd></div>`)}
      </dl>
      <dl class="facts">
        ${Object.entries(evidence_meaning).map(([evidence, meaning]) => html`<div><dt>${evidenceMark(evidence as Evidence)}</dt><dd>${meaning}</dd></div>`)}
        <div><dt>12.1× 11.8 to 12.4×</dt><dd>a ratio (A's time over B's) with its 95 % interval over three quadruples or more</dd></div>
        <div><dt>12.1× point</dt><dd>a ratio of one or two quadruples: no interval, judged by how far the repeats lie apart</dd></div>
      </dl>
    </div>
  </details>`;
}
