// Step times of a run that is still going on.

import { axisY, dot, gridY, plot, ruleX, text } from "@observablehq/plot";
import { logDomain, logTicks, tickText } from "./log_ticks";
import type { LiveBlock } from "../data/run_events";

/** The newest steps of a block that are drawn; a live chart is for watching, the receipt keeps all. */
const shown_steps = 600;

export function liveSteps(blocks: readonly LiveBlock[], width: number): Promise<Element> {
  const arms = [...new Set(blocks.filter((block) => block !== undefined).map((block) => block.arm))];
  const points = blocks.flatMap((block, index) => {
    if (block === undefined) return [];
    const all = [...block.warmup.map((step) => ({ ...step, warmup: true })), ...block.steps.map((step) => ({ ...step, warmup: false }))];
    const shown = all.filter((step) => step !== undefined).slice(-shown_steps);
    return shown.map((step, number) => ({
      x: index + (0.86 * (number + 0.5)) / Math.max(20, shown.length),
      wall_ms: step.wall_ms,
      colour: arms.indexOf(block.arm) === 0 ? "var(--side-a)" : "var(--side-b)",
      warmup: step.warmup,
    }));
  });
  const names = blocks.flatMap((block, index) => (block === undefined ? [] : [{ x: index + 0.43, name: block.arm }]));
  const values = points.map((point) => point.wall_ms).filter((value) => value > 0);
  const logarithmic = values.length > 0 && Math.max(...values) / Math.min(...values) > 6;
  const domain = logDomain(values);
  const ticks = logarithmic ? logTicks(domain) : 5;
  return Promise.resolve(
    plot({
      width,
      height: 260,
      marginTop: 28,
      marginLeft: 56,
      x: { domain: [0, Math.max(4, blocks.length)], axis: null },
      y: logarithmic ? { type: "log", domain } : { nice: true, zero: false },
      marks: [
        gridY({ ticks, stroke: "var(--rule)", strokeOpacity: 1 }),
        axisY({ ticks, text: tickText, label: "ms a step" }),
        ruleX(blocks.map((_, index) => index).slice(1), { stroke: "var(--rule)", strokeDasharray: "2 3" }),
        dot(points, { x: "x", y: "wall_ms", r: 2.6, stroke: "colour", fill: (point: { warmup: boolean; colour: string }) => (point.warmup ? "none" : point.colour) }),
        width / Math.max(4, blocks.length) > 110 ? text(names, { x: "x", text: "name", frameAnchor: "top", dy: -16 }) : null,
      ],
    }),
  );
}
