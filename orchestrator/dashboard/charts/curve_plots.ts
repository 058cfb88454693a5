// Speed-up over model size, and the cumulative bars.

import { axisX, axisY, barX, dot, gridX, gridY, line, plot, ruleX, ruleY, text } from "@observablehq/plot";
import type { CumulativeRow, CurveSeries, PlacedPoint } from "../data/curve_series";
import { flops, ratio } from "../format";
import { logDomain, logTicks } from "./log_ticks";

type Drawn = PlacedPoint & { colour: string; name: string };

export function curvePlot(series: readonly CurveSeries[], width: number): Promise<Element> {
  const points: Drawn[] = series.flatMap((item) =>
    item.points.map((point) => ({ ...point, colour: `var(--series-${(item.colour % 6) + 1})`, name: item.name })),
  );
  const intervals = points.filter((point) => point.interval95 !== undefined);
  const presets = [...new Map(points.map((point) => [point.preset, point])).values()];
  const solid = points.filter((point) => point.evidence === "measured" || point.evidence === "derived");
  const open = points.filter((point) => !solid.includes(point));
  const x_domain = logDomain(points.map((point) => point.flops), 0.3);
  const y_domain = logDomain([1, ...points.flatMap((point) => [point.speedup, ...(point.interval95 ?? [])])]);
  const x_ticks = logTicks(x_domain, Math.max(3, Math.round(width / 110)));
  const y_ticks = logTicks(y_domain);
  return Promise.resolve(
    plot({
      width,
      marginRight: 36,
      height: Math.round(Math.min(480, Math.max(280, width * 0.5))),
      marginLeft: 56,
      marginTop: 30,
      marginBottom: 44,
      x: { type: "log", domain: x_domain },
      y: { type: "log", domain: y_domain },
      marks: [
        gridY({ ticks: y_ticks, stroke: "var(--rule)", strokeOpacity: 1 }),
        axisX({ ticks: x_ticks, label: "work a step", tickFormat: (value: number) => flops(value).replace(".00", "").replace(".0", "") }),
        axisY({ ticks: y_ticks, label: "speed-up", tickFormat: (value: number) => `${value}×` }),
        ruleY([1], { stroke: "var(--rule-strong)", strokeDasharray: "4 3" }),
        line(
          solid.filter((point) => point.run !== undefined),
          { x: "flops", y: "speedup", z: "run", stroke: "colour", strokeWidth: 2 },
        ),
        ruleX(intervals, { x: "flops", y1: (point: Drawn) => point.interval95![0], y2: (point: Drawn) => point.interval95![1], stroke: "colour", strokeWidth: 2 }),
        dot(solid, { x: "flops", y: "speedup", r: 4.5, fill: "colour", title: titleOf }),
        dot(open, {
          x: "flops",
          y: "speedup",
          r: 5,
          fill: "var(--sheet)",
          stroke: "colour",
          strokeWidth: 2,
          title: titleOf,
        }),
        text(open, { x: "flops", y: "speedup", text: "evidence", dy: 16, fill: "var(--ink-soft)", fontStyle: "italic" }),
        width < 520 ? null : text(presets, { x: "flops", text: "preset", frameAnchor: "top", dy: -16, fill: "var(--ink-soft)" }),
      ],
    }),
  );
}

function titleOf(point: Drawn): string {
  return `${point.name}, ${point.preset}: ${ratio(point.speedup)} (${point.evidence})`;
}

export function cumulativePlot(rows: readonly CumulativeRow[], width: number): Promise<Element> {
  const named = rows.map((row, index) => ({ ...row, key: `${index}`, words: `${ratio(row.factor)} ${row.evidence === "measured" ? "" : row.evidence}` }));
  const names = new Map(named.map((row) => [row.key, row.arm]));
  return Promise.resolve(
    plot({
      width,
      height: 50 + named.length * 26,
      marginLeft: Math.min(260, Math.round(width * 0.4)),
      marginRight: 110,
      x: { label: "times scalar WebAssembly" },
      y: { label: null, domain: named.map((row) => row.key) },
      marks: [
        gridX({ stroke: "var(--rule)", strokeOpacity: 1 }),
        axisX({ ticks: 5, label: "times scalar WebAssembly" }),
        axisY({ label: null, tickSize: 0, tickFormat: (key: string) => names.get(key) ?? "" }),
        barX(named, {
          x: "factor",
          y: "key",
          fill: (row: CumulativeRow) => (row.evidence === "measured" || row.evidence === "derived" ? "var(--series-1)" : "var(--sheet)"),
          stroke: "var(--series-1)",
          strokeWidth: 1.5,
        }),
        text(named, { x: "factor", y: "key", text: "words", textAnchor: "start", dx: 6 }),
        ruleX([0]),
      ],
    }),
  );
}
