// What a receipt is worth, judged anew from its samples, as orchestrator/analysis/verdict.cpp does. What the gate and the
// run said is taken as stored: the facts behind it are the machine's.

import type { Reason, Receipt, VerdictResult } from "../data/receipt";
import { checkCompleteness, checkInputs, checkLossDrift, checkSamples } from "./receipt_checks";
import { isPublished, type Recomputed } from "./recompute";
import { exactText, numberText, percentText } from "./text";

/** The bounds of every shipped verdict; a value on the bound is within it. */
const half_width_limit = 0.05;
const spread_limit = 0.1;
const spread_multiple = 5;
const refused_midway = "gate-refused-midway";

export interface Judged {
  result: VerdictResult;
  precision?: "interval" | "spread";
  reasons: Reason[];
}

interface Finding {
  precise: boolean;
  precision?: "interval" | "spread";
  reasons: Reason[];
}

function judgeInterval(analysis: Recomputed, [low, high]: [number, number]): Finding {
  const half_width = (high - low) / (2 * analysis.speedup!);
  const precise = half_width <= half_width_limit;
  return {
    precise,
    precision: "interval",
    reasons: [
      {
        code: precise ? "precision-interval" : "interval-too-wide",
        message:
          `${analysis.quadruples} quadruples give a 95 % interval of plus or minus ${percentText(half_width)}` +
          `${precise ? ", within the " : ", above the "}${percentText(half_width_limit)} asked for.`,
        facts: {
          half_width: exactText(half_width),
          limit: exactText(half_width_limit),
          interval95_low: exactText(low),
          interval95_high: exactText(high),
          quadruples: String(analysis.quadruples),
        },
      },
    ],
  };
}

function judgeSpread(analysis: Recomputed): Finding {
  const spread = Math.max(analysis.repeat_spread.a!, analysis.repeat_spread.b!);
  const log_speedup = Math.abs(Math.log(analysis.speedup!));
  const multiple = numberText(spread_multiple, 2);
  const count = analysis.quadruples === 1 ? "One quadruple gives" : `${analysis.quadruples} quadruples give`;
  const facts = {
    spread: exactText(spread),
    spread_limit: exactText(spread_limit),
    log_speedup: exactText(log_speedup),
    multiple_asked: exactText(spread_multiple),
    quadruples: String(analysis.quadruples),
  };
  const reasons: Reason[] = [];
  if (spread > spread_limit)
    reasons.push({
      code: "spread-too-large",
      message: `Repeats of one arm differ by ${percentText(spread)}, above the ${percentText(spread_limit)} allowed.`,
      facts,
    });
  if (log_speedup < spread_multiple * spread)
    reasons.push({
      code: "ratio-within-spread",
      message:
        `${count} a ratio of ${numberText(analysis.speedup!, 3)}, too near to 1 for repeats that differ by ${percentText(spread)}: ` +
        `its logarithm must be at least ${multiple} times the spread. More quadruples give an interval.`,
      facts,
    });
  if (reasons.length > 0) return { precise: false, precision: "spread", reasons };
  const message =
    `${count} a point, not an interval: repeats of one arm differ by at most ${percentText(spread)}, and the ratio's logarithm is ` +
    `more than ${multiple} times that.`;
  return { precise: true, precision: "spread", reasons: [{ code: "precision-spread", message, facts }] };
}

function judgePrecision(analysis: Recomputed): Finding {
  if (analysis.speedup === undefined || !Number.isFinite(analysis.speedup))
    return { precise: false, reasons: [{ code: "no-ratio", message: "No quadruple is complete, so there is no ratio to judge.", facts: {} }] };
  return analysis.interval95 === undefined ? judgeSpread(analysis) : judgeInterval(analysis, analysis.interval95);
}

const isGateCode = (code: string): boolean => code.startsWith("adapter-") || code.startsWith("environment-");

/** The verdict that the samples, and the gate's and the run's own reasons as stored, give. */
export function judge(receipt: Receipt, analysis: Recomputed): Judged {
  const stored = receipt.verdict.reasons ?? [];
  const gate = stored.filter(({ code }) => isGateCode(code));
  const failures = stored.filter(({ code }) => code.startsWith("run-"));
  const refused = receipt.verdict.result === "refused" || stored.some(({ code }) => code === refused_midway);
  const reasons = [...gate, ...failures];
  if (isPublished(receipt)) {
    const message = `The evidence is ${receipt.evidence}: no raw samples are here, so no figure can be checked.`;
    return { result: "unqualified", reasons: [...reasons, { code: `evidence-${receipt.evidence}`, message, facts: {} }] };
  }
  const any_step = (receipt.arms ?? []).some((block) => (block.steps ?? []).length > 0);
  if (refused && !any_step) return { result: "refused", reasons };

  const incomplete = checkCompleteness(receipt);
  const broken = [...checkInputs(receipt), ...checkSamples(receipt), ...checkLossDrift(analysis)];
  if (refused) broken.push({ code: refused_midway, message: "The gate said no after an arm had begun; see its reasons.", facts: {} });
  reasons.push(...incomplete, ...broken);
  const unseen = any_step && !(receipt.arms ?? []).some(({ arm }) => arm.startsWith("wasm") || arm.startsWith("webgpu"));
  if (unseen)
    reasons.push({
      code: "no-page-arm",
      message: "No arm ran in a page, so no adapter was looked at: native and external arms alone are directional.",
      facts: {},
    });
  const found = judgePrecision(analysis);
  if (analysis.speedup !== undefined || reasons.length === 0) reasons.push(...found.reasons);
  const precision = found.precision === undefined ? {} : { precision: found.precision };

  if (incomplete.length > 0 || failures.length > 0) return { result: "failed", ...precision, reasons };
  if (broken.length > 0) return { result: "invalid", ...precision, reasons };
  if (gate.length > 0 || unseen) return { result: "unqualified", ...precision, reasons };
  return { result: found.precise ? "verified" : "inconclusive", ...precision, reasons };
}
