// One series over steps.

import { axisX, axisY, gridY, line, plot } from "@observablehq/plot";

export function seriesPlot(values: readonly number[], label: string, colour: string, width: number): Promise<Element> {
  const points = values.map((value, index) => ({ step: index + 1, value }));
  return Promise.resolve(
    plot({
      width,
      height: 220,
      marginLeft: 56,
      marginBottom: 44,
      x: { domain: [1, Math.max(2, points.length)] },
      y: { nice: true, zero: false },
      marks: [
        gridY({ stroke: "var(--rule)", strokeOpacity: 1 }),
        axisX({ ticks: 5, label: "step", tickFormat: (value: number) => (Number.isInteger(value) ? String(value) : "") }),
        axisY({ ticks: 5, label }),
        line(points, { x: "step", y: "value", stroke: colour, strokeWidth: 1.8 }),
      ],
    }),
  );
}
