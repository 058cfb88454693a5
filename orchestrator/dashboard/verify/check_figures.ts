// Is what a receipt states what its samples give? One check a figure, then the verdict; the same as `assay verify` makes
// (orchestrator/analysis/recompute.cpp).

import { presets } from "../../../trainer_wasm/web/presets";
import type { Analysis, ArmRecord, Reason, Receipt } from "../data/receipt";
import type { Check } from "./envelope";
import { checkGate } from "./gate";
import { makePlan, seedOf } from "./plan";
import { blockMedian, isPublished, recompute, type Recomputed } from "./recompute";
import { numbersIn } from "./text";
import { judge } from "./verdict";

/** Largest relative difference between a stated and a recomputed figure that rounding may explain. */
const tolerance = 1e-9;
/** Figures below this are compared as if they were this large: differences of logarithms carry their rounding. */
const smallest_scale = 1e-3;
const vocabulary_size = 256;
const evidence_classes = ["measured", "derived", "observed", "historical", "projected", "not-measured"];
/** What can be asked for at most: the work of judging a stranger's file has a bound. */
const max_blocks = 800;
const max_steps = 10_000;
const model_sizes = ["layers", "d_model", "ctx", "batch", "heads"] as const;
type ModelSize = (typeof model_sizes)[number];

function agree(x: number, y: number): boolean {
  return x === y || Math.abs(x - y) <= tolerance * Math.max(Math.abs(x), Math.abs(y), smallest_scale);
}

/** A figure that neither side has is no check; one that only one side has does not agree. */
function compareFigure(name: string, stated: number | undefined, found: number | undefined): Check[] {
  if (stated === undefined && found === undefined) return [];
  if (stated === undefined) return [{ name, outcome: "failed", detail: `The receipt leaves it out, but its samples give ${found}.` }];
  if (found === undefined) return [{ name, outcome: "failed", detail: `The receipt states ${stated}, but its samples give no such figure.` }];
  return agree(stated, found)
    ? [{ name, outcome: "passed", detail: `${found.toPrecision(6)} from the raw samples, as stated.` }]
    : [{ name, outcome: "failed", detail: `The receipt states ${stated}; its samples give ${found}.` }];
}

const onlyFaults = (checks: Check[]): Check[] => checks.filter(({ outcome }) => outcome === "failed");

/** Every check of a receipt's content. */
export function checkFigures(receipt: Receipt): Check[] {
  const form = checkForm(receipt);
  if (form.length > 0) return form;
  const stated = receipt.analysis ?? {};
  const found = isPublished(receipt) ? asStated(stated) : recompute(receipt);
  return [...checkModel(receipt), ...checkPlan(receipt), ...checkBlocks(receipt), ...checkAnalysis(stated, found), ...checkVerdict(receipt, found), ...checkGate(receipt)];
}

/** Figures that somebody stated cannot be recomputed: they are what they are, and the verdict says so. */
function asStated(stated: Analysis): Recomputed {
  const { interval95, repeat_spread, quadruples, details, notes, ...figures } = stated;
  const interval = interval95 === undefined ? {} : { interval95: interval95 as [number, number] };
  return { ...figures, ...interval, quadruples: quadruples ?? 0, repeat_spread: repeat_spread ?? {}, details: details ?? {}, notes: notes ?? [] };
}

/** What the figures need to be computed at all: a known major version, and samples that are numbers. */
function checkForm(receipt: Receipt): Check[] {
  const refuse = (detail: string): Check[] => [{ name: "receipt", outcome: "failed", detail }];
  if (!/^assay\.receipt\/1\.\d+$/.test(String(receipt.schema)))
    return refuse(`The receipt has the schema "${String(receipt.schema)}"; this page reads assay.receipt/1.x.`);
  if (!evidence_classes.includes(receipt.evidence)) return refuse(`"${String(receipt.evidence)}" is no class of evidence.`);
  const owner = receipt.chain?.machine_id;
  if (owner !== undefined && receipt.machine !== undefined && owner !== receipt.machine.machine_id)
    return refuse("It stands in the chain of another machine than the one that measured.");
  const number = (value: unknown): boolean => typeof value === "number";
  const arms: unknown = receipt.arms ?? [];
  if (!Array.isArray(arms) || !Array.isArray(receipt.plan ?? [])) return refuse("Its arms or its plan are no list.");
  if (arms.length > max_blocks || (receipt.plan ?? []).length > max_blocks) return refuse(`It holds more than ${max_blocks} blocks.`);
  for (const [index, block] of (receipt.arms ?? []).entries()) {
    const steps: unknown = block.steps ?? [];
    const is_step = (step: { wall_ms?: unknown; loss?: unknown } | null): boolean =>
      step !== null && number(step.wall_ms) && (step.wall_ms as number) >= 0 && number(step.loss);
    if (Array.isArray(steps) && steps.length > max_steps) return refuse(`Block ${index + 1} holds more than ${max_steps} steps.`);
    if (!Array.isArray(steps) || !steps.every(is_step)) return refuse(`Block ${index + 1} has steps that are not times and losses.`);
    if (!number(block.quadruple) || !number(block.position)) return refuse(`Block ${index + 1} does not say where it stands.`);
  }
  if (receipt.verdict?.result === undefined || !Array.isArray(receipt.request?.arms)) return refuse("It has no verdict or no request.");
  if (receipt.analysis === undefined) return refuse("It has no analysis.");
  return [];
}

/** The sizes that the request names, of a preset or its own. */
function sizesOf(receipt: Receipt): [ModelSize, number | undefined][] {
  const own = receipt.request.model as Partial<Record<ModelSize, number>> | undefined;
  const name = receipt.request.preset;
  const asked: Partial<Record<ModelSize, number>> | undefined = name === undefined ? own : presets[name];
  return model_sizes.map((size) => [size, asked?.[size]]);
}

/** The sizes are those that the request names; parameters and operations a step follow from them. */
function checkModel(receipt: Receipt): Check[] {
  const model = receipt.model;
  const { layers, d_model, ctx, batch } = model ?? {};
  if (layers === undefined || d_model === undefined || ctx === undefined || batch === undefined)
    return [{ name: "model", outcome: "failed", detail: "The receipt does not state its model's sizes." }];
  const parameters = (vocabulary_size + ctx) * d_model + layers * (12 * d_model * d_model + 13 * d_model) + 2 * d_model;
  const tokens = batch * ctx;
  const flops = 6 * tokens * (12 * layers * d_model * d_model + vocabulary_size * d_model) + 6 * layers * tokens * d_model * (ctx + 1);
  return onlyFaults([
    ...sizesOf(receipt).flatMap(([name, asked]) => compareFigure(name, model?.[name], asked)),
    ...compareFigure("parameters", model?.parameters, parameters),
    ...compareFigure("operations a step", model?.flops_per_step, flops),
  ]);
}

/** The order is fixed by the seed before the machine is seen: another one was chosen afterwards. */
function checkPlan(receipt: Receipt): Check[] {
  const plan = receipt.plan ?? [];
  const seed = seedOf(receipt.request.seed);
  if (seed === undefined) return [{ name: "seed", outcome: "failed", detail: `"${String(receipt.request.seed)}" is no seed.` }];
  const planned = makePlan(Math.floor(plan.length / 4), seed, receipt.request.randomise_order ?? true).join("");
  if (plan.length === 0 || plan.join("") === planned) return [];
  return [{ name: "plan", outcome: "failed", detail: `The receipt states ${plan.join("")}; its seed gives ${planned}.` }];
}

function checkBlocks(receipt: Receipt): Check[] {
  return (receipt.arms ?? []).flatMap((record, index) =>
    onlyFaults([
      ...compareFigure(`median of block ${index + 1}`, record.median_step_ms, blockMedian(record)),
      ...compareFigure(`last loss of block ${index + 1}`, record.final_loss, record.steps?.at(-1)?.loss),
      ...checkColdStart(record, index),
    ]),
  );
}

function checkColdStart(record: ArmRecord, index: number): Check[] {
  const parts = Object.values(record.cold_start_parts_ms ?? {});
  if (parts.length === 0) return [];
  return compareFigure(`cold start of block ${index + 1}`, record.cold_start_ms, parts.reduce((sum, part) => sum + part, 0));
}

function checkAnalysis(stated: Analysis, found: Recomputed): Check[] {
  // A detail that only a newer build computes is not a fault of an older receipt.
  const details = Object.entries(stated.details ?? {}).flatMap(([name, value]) => compareFigure(`detail ${name}`, value, found.details[name]));
  return [
    ...onlyFaults(compareFigure("quadruples", stated.quadruples, found.quadruples)),
    ...compareFigure("median of A", stated.a_median_ms, found.a_median_ms),
    ...compareFigure("median of B", stated.b_median_ms, found.b_median_ms),
    ...compareFigure("speed-up", stated.speedup, found.speedup),
    ...compareFigure("interval, low end", stated.interval95?.[0], found.interval95?.[0]),
    ...compareFigure("interval, high end", stated.interval95?.[1], found.interval95?.[1]),
    ...compareFigure("loss drift", stated.max_loss_drift, found.max_loss_drift),
    ...compareFigure("spread of A", stated.repeat_spread?.a, found.repeat_spread.a),
    ...compareFigure("spread of B", stated.repeat_spread?.b, found.repeat_spread.b),
    ...onlyFaults(details),
    ...strayNumbers("notes", (stated.notes ?? []).join(" "), found.notes.join(" ")),
  ];
}

/** A sentence may be worded otherwise by another build, but it may not state a number that the samples do not give. */
function strayNumbers(name: string, stated: string, found: string): Check[] {
  const known = new Set(numbersIn(found));
  const stray = numbersIn(stated).find((number) => !known.has(number));
  return stray === undefined ? [] : [{ name, outcome: "failed", detail: `"${stated}" states ${stray}, which its samples do not give.` }];
}

function checkVerdict(receipt: Receipt, analysis: Recomputed): Check[] {
  const stated = receipt.verdict;
  const found = judge(receipt, analysis);
  const codes = (reasons: readonly Reason[]): string => reasons.map(({ code }) => code).join(", ");
  const compareTexts = (name: string, x: string, y: string): Check[] =>
    x === y ? [] : [{ name, outcome: "failed", detail: `The receipt states "${x}"; its samples give "${y}".` }];
  const reasons = stated.reasons ?? [];
  const faults = [
    ...compareTexts("verdict", stated.result, found.result),
    ...compareTexts("precision", stated.precision ?? "none", found.precision ?? "none"),
    ...compareTexts("reasons", codes(reasons), codes(found.reasons)),
  ];
  if (faults.length > 0) return faults;
  const wrong = reasons.flatMap((reason, index) => checkReason(reason, found.reasons[index]!));
  if (wrong.length > 0) return wrong;
  const detail = isPublished(receipt)
    ? `"${found.result}": figures that somebody stated, with no sample to check them by.`
    : `"${found.result}" from the raw samples, as stated.`;
  return [{ name: "verdict", outcome: "passed", detail }];
}

function checkReason(stated: Reason, found: Reason): Check[] {
  const name = `reason ${stated.code}`;
  for (const [fact, value] of Object.entries(stated.facts ?? {})) {
    const again = found.facts?.[fact];
    const numbers = [Number(value), Number(again)] as const;
    const same = value === again || (again !== undefined && numbers.every(Number.isFinite) && agree(...numbers));
    if (!same) return [{ name, outcome: "failed", detail: `It states ${fact} = ${value}; the samples give ${again ?? "no such fact"}.` }];
  }
  return strayNumbers(name, stated.message, found.message);
}
