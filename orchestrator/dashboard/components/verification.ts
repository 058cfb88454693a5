// The receipt checked in the reader's browser: form, signature, digest, and every figure from its raw samples.

import { html, type TemplateResult } from "lit";
import type { Check } from "../verify/envelope";

const outcome_sign: Record<Check["outcome"], string> = { passed: "✓", failed: "✗", skipped: "–" };

export function verificationList(checks: readonly Check[]): TemplateResult {
  const failed = checks.filter((check) => check.outcome === "failed").length;
  const skipped = checks.filter((check) => check.outcome === "skipped").length;
  const words =
    failed > 0
      ? `INVALID: ${failed} of ${checks.length} checks failed`
      : skipped > 0
        ? `${checks.length - skipped} of ${checks.length} checks passed, ${skipped} could not be made here`
        : `VALID: all ${checks.length} checks passed`;
  return html`<p class=${failed > 0 ? "failed" : "passed"} data-verification=${failed > 0 ? "invalid" : skipped > 0 ? "partial" : "valid"}>
      <b>${words}</b>
    </p>
    <ul class="checks">
      ${checks.map(
        (check) =>
          html`<li>
            <span class=${check.outcome} aria-hidden="true">${outcome_sign[check.outcome]}</span>
            <span>${check.name}<span class="visually-hidden"> ${check.outcome}</span></span>
            <span>${check.detail}</span>
          </li>`,
      )}
    </ul>
    <p class="sub">
      Checked in this browser, with nothing from the server but the file. A signature proves origin and integrity, not honesty: whether
      to believe the key is your decision.
    </p>`;
}
