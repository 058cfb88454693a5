// A receipt's own charts: step times in the order they ran, losses laid over each other, drift between pairs.

import { axisX, axisY, dot, gridX, gridY, line, plot, ruleX, ruleY, text, tickX } from "@observablehq/plot";
import { blockNames, type ArmRecord, type Receipt } from "../data/receipt";
import { duration } from "../format";
import { shortened } from "./label_places";
import { logDomain, logTicks, tickText } from "./log_ticks";
import { blockMedian, blockPairs, stepDrifts } from "../verify/recompute";

export const side_colour = { A: "var(--side-a)", B: "var(--side-b)" } as const;

/** Above this many points a drawing of single shapes is slow, and a canvas takes over. */
const most_shapes = 4_000;
/** The part of a block's column that its steps fill; the rest is the gap to the next block. */
const block_fill = 0.86;

interface StepPoint {
  x: number;
  wall_ms: number;
  block: "A" | "B";
  title: string;
}

function stepPoints(arms: readonly ArmRecord[]): StepPoint[] {
  const names = blockNames(arms);
  return arms.flatMap((record, index) => {
    const steps = record.steps ?? [];
    return steps.map((step, number) => ({
      x: index + (block_fill * (number + 0.5)) / steps.length,
      wall_ms: step.wall_ms,
      block: record.block,
      title: `${names[index]} ${record.arm}, step ${number + 1}: ${duration(step.wall_ms)}`,
    }));
  });
}

/** Whether the two sides lie so far apart that only a logarithmic axis shows both. */
function needsLogarithm(values: readonly number[]): boolean {
  const positive = values.filter((value) => value > 0);
  return positive.length > 0 && Math.max(...positive) / Math.min(...positive) > 6;
}

/** Step times, one column a block, left to right as they ran; a bar marks each block's median. */
export async function stepTimes(receipt: Receipt, width: number): Promise<Element> {
  const arms = (receipt.arms ?? []).filter((record) => (record.steps ?? []).length > 0);
  const points = stepPoints(arms);
  if (points.length > most_shapes) {
    const { longSeries } = await import("./long_series");
    return longSeries(
      arms.map((record, index) => ({
        name: `${blockNames(arms)[index]} ${record.arm}`,
        colour: record.block === "A" ? "--side-a" : "--side-b",
        values: (record.steps ?? []).map((step) => step.wall_ms),
      })),
      { width, y_label: "ms a step", logarithmic: needsLogarithm(arms.map((record) => blockMedian(record) ?? 0)) },
    );
  }
  const names = blockNames(arms);
  const medians = arms.map((record, index) => ({
    x1: index,
    x2: index + block_fill,
    median: blockMedian(record)!,
    block: record.block,
    name: arms.length <= 12 ? `${names[index]} ${width / arms.length > 130 ? record.arm : ""}` : "",
  }));
  const logarithmic = needsLogarithm(medians.map((block) => block.median));
  const domain = logDomain(points.map((point) => point.wall_ms));
  const ticks = logarithmic ? logTicks(domain) : 5;
  return plot({
    width,
    height: Math.round(Math.min(380, Math.max(240, width * 0.34))),
    marginTop: 28,
    marginLeft: 56,
    x: { domain: [0, Math.max(1, arms.length)], axis: null },
    y: logarithmic ? { type: "log", domain } : { nice: true, zero: false },
    marks: [
      gridY({ ticks, stroke: "var(--rule)", strokeOpacity: 1 }),
      axisY({ ticks, text: tickText, label: "ms a step" }),
      ruleX(arms.map((_, index) => index).slice(1), { dx: 0, stroke: "var(--rule)", strokeDasharray: "2 3" }),
      dot(points, { x: "x", y: "wall_ms", r: 2.6, fill: (point: StepPoint) => side_colour[point.block], fillOpacity: 0.75, title: "title" }),
      ruleY(medians, {
        x1: "x1",
        x2: "x2",
        y: "median",
        stroke: (block: { block: "A" | "B" }) => side_colour[block.block],
        strokeWidth: 2,
      }),
      text(medians, {
        x: (block: { x1: number; x2: number }) => (block.x1 + block.x2) / 2,
        text: "name",
        frameAnchor: "top",
        dy: -16,
        fill: (block: { block: "A" | "B" }) => side_colour[block.block],
      }),
    ],
  });
}

interface LossPoint {
  step: number;
  loss: number;
  series: number;
}

/** Every block's loss over the same training steps. Equal curves hide each other, which is the point. */
export async function lossCurves(receipt: Receipt, width: number): Promise<Element> {
  // A before B, so that the thin line of B lies on the thick one of A.
  const arms = (receipt.arms ?? []).filter((record) => (record.steps ?? []).length > 0).sort((a, b) => a.block.localeCompare(b.block));
  const points: LossPoint[] = arms.flatMap((record, series) =>
    (record.steps ?? []).map((step, index) => ({ step: index + 1, loss: step.loss, series })),
  );
  if (points.length > most_shapes) {
    const { longSeries } = await import("./long_series");
    return longSeries(
      arms.map((record, index) => ({
        name: `${blockNames(arms)[index]} ${record.arm}`,
        colour: record.block === "A" ? "--side-a" : "--side-b",
        values: (record.steps ?? []).map((step) => step.loss),
      })),
      { width, y_label: "loss (nats)", logarithmic: false },
    );
  }
  return plot({
    width,
    height: Math.round(Math.min(320, Math.max(220, width * 0.45))),
    marginLeft: 56,
    marginBottom: 44,
    x: { label: "training step", nice: true },
    y: { label: "loss (nats)", nice: true },
    marks: [
      gridY({ stroke: "var(--rule)", strokeOpacity: 1 }),
      axisX({ ticks: 6, label: "training step", tickFormat: (value: number) => (Number.isInteger(value) ? String(value) : "") }),
      axisY({ ticks: 5, label: "loss (nats)" }),
      line(points, {
        x: "step",
        y: "loss",
        z: "series",
        stroke: (point: LossPoint) => side_colour[arms[point.series]!.block],
        strokeWidth: (point: LossPoint) => (arms[point.series]!.block === "A" ? 4 : 1.5),
        strokeOpacity: 0.9,
      }),
    ],
  });
}

/** Relative loss difference of the first A to the first B block of a quadruple, and so on, step by step. */
export function driftCurve(receipt: Receipt, width: number): Promise<Element> {
  const pairs = blockPairs(receipt.arms ?? []);
  const points = pairs.flatMap(({ a, b }, pair) =>
    stepDrifts(a.steps ?? [], b.steps ?? []).map((drift, index) => ({ step: index + 1, drift: drift * 100, pair })),
  );
  return Promise.resolve(
    plot({
      width,
      height: Math.round(Math.min(320, Math.max(220, width * 0.45))),
      marginLeft: 64,
      marginBottom: 44,
      x: { label: "training step" },
      y: { label: "loss difference (%)", zero: true },
      marks: [
        gridY({ stroke: "var(--rule)", strokeOpacity: 1 }),
        axisX({ ticks: 6, label: "training step", tickFormat: (value: number) => (Number.isInteger(value) ? String(value) : "") }),
        axisY({ ticks: 4, label: "loss difference (%)", tickFormat: (value: number) => (value === 0 ? "0" : value < 1e-4 ? value.toExponential(0) : value.toPrecision(1)) }),
        line(points, { x: "step", y: "drift", z: "pair", stroke: "var(--series-3)", strokeWidth: 1.5 }),
      ],
    }),
  );
}

/** Two or more receipts' blocks side by side: every step a dot, every median a bar. */
export function distributions(groups: { name: string; values: number[]; side: "A" | "B" }[], width: number): Promise<Element> {
  const points = groups.flatMap((group) => group.values.slice(0, 500).map((value) => ({ name: group.name, value, side: group.side })));
  const medians = groups.flatMap((group) => {
    const sorted = [...group.values].sort((x, y) => x - y);
    return sorted.length === 0 ? [] : [{ name: group.name, value: sorted[sorted.length >> 1]!, side: group.side }];
  });
  const logarithmic = needsLogarithm(medians.map((item) => item.value));
  const domain = logDomain(points.map((point) => point.value));
  const ticks = logarithmic ? logTicks(domain, width < 500 ? 4 : 9) : 5;
  const left = Math.min(220, Math.round(width * 0.42));
  return Promise.resolve(
    plot({
      width,
      marginRight: 30,
      marginBottom: 44,
      height: 70 + groups.length * 24,
      marginLeft: left,
      x: logarithmic ? { type: "log", domain } : { nice: true },
      y: { label: null, domain: groups.map((group) => group.name) },
      marks: [
        gridX({ ticks, stroke: "var(--rule)", strokeOpacity: 1 }),
        axisX({ ticks, label: "ms a step", text: tickText }),
        axisY({ label: null, tickSize: 0, tickFormat: (name: string) => shortened(name, Math.floor(left / 6.6)) }),
        dot(points, { x: "value", y: "name", r: 3, fill: (point: { side: "A" | "B" }) => side_colour[point.side], fillOpacity: 0.35 }),
        tickX(medians, { x: "value", y: "name", stroke: (item: { side: "A" | "B" }) => side_colour[item.side], strokeWidth: 3 }),
      ],
    }),
  );
}
