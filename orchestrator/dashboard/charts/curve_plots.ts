// Speed-up over model size, and the cumulative bars.

import { axisX, axisY, barX, dot, gridX, gridY, line, plot, ruleX, ruleY, text } from "@observablehq/plot";
import type { CumulativeRow, CurveSeries, PlacedPoint } from "../data/curve_series";
import { flops, ratio } from "../format";
import { placeLabels, shortened } from "./label_places";
import { logDomain, logTicks } from "./log_ticks";
import { series_shapes, shapeOf, type SeriesShape } from "./series_shapes";

type Drawn = PlacedPoint & { colour: string; shape: SeriesShape; name: string };

const margin = { left: 56, right: 36, top: 42, bottom: 44 };
/** Below this width there is no room for the names of the sizes; the table has them. */
const named_from_width = 520;
const most_characters = 60;

export function curvePlot(series: readonly CurveSeries[], width: number): Promise<Element> {
  const points: Drawn[] = series.flatMap((item) =>
    item.points.map((point) => ({ ...point, colour: `var(--series-${(item.colour % 6) + 1})`, shape: shapeOf(item.colour), name: item.name })),
  );
  const intervals = points.filter((point) => point.interval95 !== undefined);
  const solid = points.filter((point) => point.evidence === "measured" || point.evidence === "derived");
  const open = points.filter((point) => !solid.includes(point));
  const x_domain = logDomain(points.map((point) => point.flops), 0.3);
  const y_domain = logDomain([1, ...points.flatMap((point) => [point.speedup, ...(point.interval95 ?? [])])]);
  const x_ticks = logTicks(x_domain, Math.max(3, Math.round(width / 110)));
  const y_ticks = logTicks(y_domain);
  const height = Math.round(Math.min(480, Math.max(280, width * 0.5)));
  const x_of = logScale(x_domain, margin.left, width - margin.right);
  const y_of = logScale(y_domain, height - margin.bottom, margin.top);
  const sizes = [...new Map(points.map((point) => [point.preset, point])).values()].sort((a, b) => a.flops - b.flops);
  const size_names = placed(sizes, sizes.map((point) => ({ x: x_of(point.flops), y: 0, text: point.preset })), [-16, -29]);
  const evidence_names = placed(open, open.map((point) => ({ x: x_of(point.flops), y: y_of(point.speedup), text: point.evidence })), [16, -16, 29, -29]);
  return Promise.resolve(
    plot({
      width,
      height,
      marginLeft: margin.left,
      marginRight: margin.right,
      marginTop: margin.top,
      marginBottom: margin.bottom,
      x: { type: "log", domain: x_domain },
      y: { type: "log", domain: y_domain },
      marks: [
        gridY({ ticks: y_ticks, stroke: "var(--rule)", strokeOpacity: 1 }),
        axisX({ ticks: x_ticks, label: "work a step", text: (value: number) => flops(value).replace(".00", "").replace(".0", "") }),
        axisY({ ticks: y_ticks, label: "speed-up", text: (value: number) => `${value}×` }),
        ruleY([1], { stroke: "var(--rule-strong)", strokeDasharray: "4 3" }),
        line(
          solid.filter((point) => point.run !== undefined),
          { x: "flops", y: "speedup", z: "run", stroke: "colour", strokeWidth: 2 },
        ),
        ruleX(intervals, { x: "flops", y1: (point: Drawn) => point.interval95![0], y2: (point: Drawn) => point.interval95![1], stroke: "colour", strokeWidth: 2 }),
        ...series_shapes.flatMap((symbol) => {
          const own = (all: readonly Drawn[]): Drawn[] => all.filter((point) => point.shape === symbol);
          const ring = { x: "flops", y: "speedup", symbol, r: 5, fill: "var(--sheet)", stroke: "colour", strokeWidth: 2, title: titleOf } as const;
          return [
            dot(own(solid), { x: "flops", y: "speedup", symbol, r: 4.5, fill: "colour", title: titleOf }),
            dot(own(open).filter((point) => point.evidence !== "projected"), ring),
            dot(own(open).filter((point) => point.evidence === "projected"), { ...ring, strokeDasharray: "2 2" }),
          ];
        }),
        ...evidence_names.map(([dy, some]) => text(some, { x: "flops", y: "speedup", text: "evidence", dy, fill: "var(--ink-soft)", fontStyle: "italic" })),
        ...(width < named_from_width ? [] : size_names).map(([dy, some]) => text(some, { x: "flops", text: "preset", frameAnchor: "top", dy, fill: "var(--ink-soft)" })),
      ],
    }),
  );
}

/** Pixels of a value on a logarithmic axis. */
function logScale([low, high]: [number, number], from: number, to: number): (value: number) => number {
  return (value) => from + ((to - from) * Math.log(value / low)) / Math.log(high / low);
}

/** The points whose words have a place, by its offset. */
function placed(points: readonly Drawn[], labels: Parameters<typeof placeLabels>[0], offsets: readonly number[]): [number, Drawn[]][] {
  const places = placeLabels(labels, offsets);
  return offsets.map((offset) => [offset, points.filter((_, index) => places[index] === offset)]);
}

function titleOf(point: Drawn): string {
  return `${point.name}, ${point.preset}: ${ratio(point.speedup)} (${point.evidence})`;
}

/** Bars in groups, each group under its name. */
export function cumulativePlot(rows: readonly CumulativeRow[], width: number): Promise<Element> {
  const bars = rows.map((row, index) => ({ ...row, key: `${index}`, words: `${ratio(row.factor)} ${row.evidence === "measured" ? "" : row.evidence}` }));
  const groups = [...new Set(rows.map((row) => row.group))].map((group) => ({ group: shortened(group, most_characters), key: `group ${group}` }));
  const arms = new Map(bars.map((row) => [row.key, row.arm]));
  const left = Math.min(200, Math.round(width * 0.36));
  const domain = bars.flatMap((row, index) => (row.group === bars[index - 1]?.group ? [row.key] : [`group ${row.group}`, row.key]));
  return Promise.resolve(
    plot({
      width,
      height: 50 + domain.length * 26,
      marginLeft: left,
      marginRight: 110,
      marginBottom: 44,
      x: { label: "times scalar WebAssembly" },
      y: { label: null, domain },
      marks: [
        gridX({ ticks: 5, stroke: "var(--rule)", strokeOpacity: 1 }),
        axisX({ ticks: 5, label: "times scalar WebAssembly" }),
        axisY({ label: null, tickSize: 0, tickFormat: (key: string) => shortened(arms.get(key) ?? "", Math.floor(left / 7)) }),
        barX(bars, {
          x: "factor",
          y: "key",
          fill: (row: CumulativeRow) => (row.evidence === "measured" || row.evidence === "derived" ? "var(--series-1)" : "var(--sheet)"),
          stroke: "var(--series-1)",
          strokeWidth: 1.5,
        }),
        text(bars, { x: "factor", y: "key", text: "words", textAnchor: "start", dx: 6 }),
        text(groups, { y: "key", text: "group", frameAnchor: "left", textAnchor: "start", dx: 6, fontWeight: "bold" }),
        ruleX([0]),
      ],
    }),
  );
}
