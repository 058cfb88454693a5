// Series too long for single shapes, drawn on a canvas by uPlot.

import UPlot from "uplot";
import "uplot/dist/uPlot.min.css";

export interface Series {
  name: string;
  /** Name of the page's colour variable. */
  colour: string;
  values: number[];
}

export interface LongSeriesOptions {
  width: number;
  y_label: string;
  logarithmic: boolean;
}

export function longSeries(series: readonly Series[], options: LongSeriesOptions): Element {
  const colour = pageColour;
  const longest = Math.max(...series.map((item) => item.values.length));
  const axis = { stroke: colour("--ink-soft"), grid: { stroke: colour("--rule"), width: 1 }, ticks: { stroke: colour("--rule") } };
  const holder = document.createElement("div");
  new UPlot(
    {
      width: options.width,
      height: 320,
      scales: { x: { time: false }, y: { distr: options.logarithmic ? 3 : 1 } },
      axes: [
        { ...axis, label: "step" },
        { ...axis, label: options.y_label, size: 64 },
      ],
      series: [
        { label: "step" },
        ...series.map((item) => ({ label: item.name, stroke: colour(item.colour), width: 1, points: { show: false } })),
      ],
      legend: { live: false },
    },
    [
      Array.from({ length: longest }, (_, index) => index + 1),
      ...series.map((item) => Array.from({ length: longest }, (_, index) => item.values[index] ?? null)),
    ],
    holder,
  );
  return holder;
}

/** The value that one of the page's colour variables has now; a canvas knows nothing of variables and themes. */
function pageColour(name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.documentElement.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
