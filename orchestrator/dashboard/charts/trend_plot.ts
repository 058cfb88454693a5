// A machine's history: figures with their intervals, failures at the foot, changes as marked days.

import { axisX, axisY, dot, gridY, line, plot, ruleX, text } from "@observablehq/plot";
import type { Trend, TrendPoint } from "../data/source";
import { percent } from "../format";

type Dated = TrendPoint & { when: Date; run: number };

export function trendPlot(trend: Trend, width: number): Promise<Element> {
  // A failure breaks the line: between the two figures beside it nothing is known.
  let run = 0;
  const dated: Dated[] = [...trend.points]
    .sort((a, b) => a.created_at.localeCompare(b.created_at))
    .map((point) => {
      if (point.speedup === undefined) run += 1;
      return { ...point, when: new Date(point.created_at), run };
    });
  const figures = dated.filter((point) => point.speedup !== undefined);
  const failures = dated.filter((point) => point.speedup === undefined);
  const changes = (trend.changes ?? []).map((change) => ({ when: new Date(change.created_at), words: `${change.size >= 0 ? "+" : "−"}${percent(Math.abs(change.size))}` }));
  const trusted = (point: TrendPoint): boolean => point.verdict === "verified";
  return Promise.resolve(
    plot({
      width,
      height: Math.round(Math.min(380, Math.max(240, width * 0.4))),
      marginLeft: 56,
      marginTop: 30,
      marginBottom: 40,
      x: { type: "time", label: null },
      y: { label: "speed-up", nice: true, zero: false },
      marks: [
        gridY({ stroke: "var(--rule)", strokeOpacity: 1 }),
        axisX({ ticks: Math.max(2, Math.round(width / 140)) }),
        axisY({ ticks: 5, label: "speed-up", tickFormat: (value: number) => `${value}×` }),
        ruleX(changes, { x: "when", stroke: "var(--series-4)", strokeDasharray: "4 3" }),
        text(changes, { x: "when", text: "words", frameAnchor: "top", dy: -14, fill: "var(--series-4)" }),
        line(figures, { x: "when", y: "speedup", z: "run", stroke: "var(--series-1)", strokeOpacity: 0.5 }),
        ruleX(
          figures.filter((point) => point.interval95 !== undefined),
          { x: "when", y1: (point: Dated) => point.interval95![0], y2: (point: Dated) => point.interval95![1], stroke: "var(--series-1)" },
        ),
        dot(figures, { x: "when", y: "speedup", r: 4, stroke: "var(--series-1)", fill: (point: Dated) => (trusted(point) ? "var(--series-1)" : "var(--sheet)") }),
        dot(failures, { x: "when", frameAnchor: "bottom", symbol: "times", r: 5, stroke: "var(--bad)", strokeWidth: 2 }),
      ],
    }),
  );
}
