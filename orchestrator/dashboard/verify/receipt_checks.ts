// What can be wrong with a receipt's samples and proofs, as orchestrator/analysis/receipt_checks.cpp finds it: no reason
// means nothing is wrong.

import type { ArmRecord, Reason, Receipt } from "../data/receipt";
import { blockMedian, logRatios, type Recomputed } from "./recompute";
import { decideQuadruples, firstStage, quadruplePlan } from "./statistics";
import { exactText, percentText } from "./text";

const loss_drift_limit = 0.05;

const stepsOf = (block: ArmRecord): NonNullable<ArmRecord["steps"]> => block.steps ?? [];
const errorsOf = (block: ArmRecord): string[] => block.errors ?? [];
const madeAllSteps = (receipt: Receipt, block: ArmRecord): boolean => stepsOf(block).length === receipt.request.steps;

function titleOf(block: ArmRecord): string {
  return `Block ${block.block} (${block.arm}, quadruple ${block.quadruple + 1}, position ${block.position + 1})`;
}

function factsOf(block: ArmRecord): Record<string, string> {
  return { arm: block.arm, block: block.block, quadruple: String(block.quadruple), position: String(block.position) };
}

/** How many quadruples the run makes in all, as far as its samples tell. */
function quadruplesToRun(receipt: Receipt): number {
  const plan = quadruplePlan(receipt.request.quadruples);
  const first = firstStage(plan);
  const log_ratios = logRatios(receipt);
  if (!plan.automatic || log_ratios.length < first) return first;
  return decideQuadruples(plan, log_ratios.slice(0, first)).quadruples;
}

function unfinishedBlock(receipt: Receipt, block: ArmRecord): Reason {
  const asked = receipt.request.steps;
  const made = stepsOf(block).length;
  const facts = { ...factsOf(block), steps: String(made), steps_asked: String(asked) };
  const error = errorsOf(block)[0];
  if (error === undefined) return { code: "steps-missing", message: `${titleOf(block)} has ${made} of ${asked} steps.`, facts };
  return { code: "arm-failed", message: `${titleOf(block)} ended after ${made} of ${asked} steps: ${error}`, facts: { ...facts, error } };
}

/** Blocks that the plan names and that did not run or ended early, and a plan of another length than asked for. */
export function checkCompleteness(receipt: Receipt): Reason[] {
  const arms = receipt.arms ?? [];
  const planned = (receipt.plan ?? []).length;
  const out = arms.filter((block) => !madeAllSteps(receipt, block)).map((block) => unfinishedBlock(receipt, block));
  if (planned === 0 || arms.length < planned)
    out.push({
      code: "arm-missing",
      message: `${arms.length} of ${planned} planned blocks ran.`,
      facts: { ran: String(arms.length), planned: String(planned) },
    });
  const wanted = 4 * quadruplesToRun(receipt);
  if (out.length === 0 && planned !== wanted)
    out.push({
      code: "quadruples-mismatch",
      message: `${planned} blocks were planned; the request asks for ${wanted}.`,
      facts: { planned: String(planned), asked: String(wanted) },
    });
  return out;
}

function followsPlan(receipt: Receipt, index: number): boolean {
  const block = (receipt.arms ?? [])[index]!;
  const planned = (receipt.plan ?? [])[index];
  return (
    block.block === planned &&
    block.quadruple === Math.floor(index / 4) &&
    block.position === index % 4 &&
    receipt.request.arms.length === 2 &&
    block.arm === receipt.request.arms[planned === "A" ? 0 : 1]
  );
}

function checkDigest(receipt: Receipt, name: "weights" | "batches" | "corpus"): Reason[] {
  const key = `${name}_sha256` as const;
  const out: Reason[] = [];
  const seen = new Set<string>();
  const stated = receipt.inputs?.[key];
  if (stated !== undefined) seen.add(stated);
  for (const block of receipt.arms ?? []) {
    if (stepsOf(block).length === 0) continue;
    const digest = block[key];
    if (digest !== undefined) seen.add(digest);
    else
      out.push({
        code: "digest-missing",
        message: `${titleOf(block)} did not report the digest of its ${name}.`,
        facts: { ...factsOf(block), input: name },
      });
  }
  if (seen.size < 2) return out;
  const facts = Object.fromEntries([...seen].sort().map((digest, index) => [`sha256_${index + 1}`, digest]));
  out.push({ code: `${name}-differ`, message: `The arms did not train on the same ${name}: ${seen.size} different digests.`, facts });
  return out;
}

/** Blocks that are not the plan's; unequal or missing digests of weights, batches and corpus. */
export function checkInputs(receipt: Receipt): Reason[] {
  const strays = (receipt.arms ?? []).flatMap((block, index): Reason[] =>
    followsPlan(receipt, index)
      ? []
      : [
          {
            code: "plan-mismatch",
            message: `${titleOf(block)} is not what the plan says for block number ${index + 1}.`,
            facts: { ...factsOf(block), planned_block: (receipt.plan ?? [])[index] ?? "none" },
          },
        ],
  );
  return [...strays, ...(["weights", "batches", "corpus"] as const).flatMap((name) => checkDigest(receipt, name))];
}

function checkBlockSamples(receipt: Receipt, block: ArmRecord): Reason[] {
  const out: Reason[] = [];
  const errors = errorsOf(block);
  const steps = stepsOf(block);
  if (madeAllSteps(receipt, block) && errors.length > 0)
    out.push({
      code: "arm-errors",
      message: `${titleOf(block)} reported an error: ${errors[0]}`,
      facts: { ...factsOf(block), errors: String(errors.length), error: errors[0]! },
    });
  const lost = steps.findIndex((step) => !Number.isFinite(step.loss));
  if (lost >= 0)
    out.push({
      code: "loss-not-finite",
      message: `${titleOf(block)} has a loss that is not finite at step ${lost + 1}.`,
      facts: { ...factsOf(block), step: String(lost + 1) },
    });
  const time = blockMedian(block);
  if (steps.length > 0 && (!((time ?? 0) > 0) || steps.some((step) => step.wall_ms < 0)))
    out.push({
      code: "time-not-positive",
      message: `${titleOf(block)} has step times that cannot be: its median is not above zero, or a time is negative or not finite.`,
      facts: { ...factsOf(block), ...(time === undefined ? {} : { median_step_ms: exactText(time) }) },
    });
  return out;
}

/** Errors of arms that made all their steps, losses that are not finite, times that are not positive. */
export function checkSamples(receipt: Receipt): Reason[] {
  return (receipt.arms ?? []).flatMap((block) => checkBlockSamples(receipt, block));
}

/** Loss drift over its budget. */
export function checkLossDrift(analysis: Recomputed): Reason[] {
  const drift = analysis.max_loss_drift;
  if (drift === undefined || drift <= loss_drift_limit) return [];
  return [
    {
      code: "loss-drift",
      message: `The losses of A and B differ by up to ${percentText(drift)}, above the ${percentText(loss_drift_limit)} allowed: they did not do the same training.`,
      facts: { max_loss_drift: exactText(drift), limit: exactText(loss_drift_limit) },
    },
  ];
}
