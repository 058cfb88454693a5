import { describe, expect, it } from "vitest";
import { cumulativeRows, curveSeries, newestPoints } from "./curve_series";
import type { CurvePoint } from "./source";

const point = (preset: string, extra: Partial<CurvePoint> = {}): CurvePoint => ({
  machine_id: "m",
  preset,
  flops_per_step: 1e9,
  speedup: 2,
  evidence: "measured",
  verdict: "verified",
  ...extra,
});

describe("curve series", () => {
  it("break the line where a preset in between was not measured", () => {
    const [series] = curveSeries([point("small"), point("medium"), point("xl")]);
    expect(series!.points.map((placed) => placed.run)).toEqual(["m/0", "m/0", "m/1"]);
  });

  it("never put historical, observed or projected points on a line", () => {
    const [series] = curveSeries([point("small"), point("medium", { evidence: "historical" }), point("large", { evidence: "projected" })]);
    expect(series!.points.map((placed) => placed.run)).toEqual(["m/0", undefined, undefined]);
  });

  it("leave out what has no figure or no size", () => {
    expect(curveSeries([point("small", { flops_per_step: 0 })])).toEqual([]);
    const { speedup: _, ...failed } = point("small");
    expect(curveSeries([failed])).toEqual([]);
  });

  it("keep machines apart", () => {
    expect(curveSeries([point("small"), point("small", { machine_id: "n" })]).map((series) => series.machine_id)).toEqual(["m", "n"]);
  });
});

describe("newest points", () => {
  it("are one a machine, size, pair of arms and evidence class", () => {
    const old = point("small", { created_at: "2026-01-01T00:00:00Z", speedup: 1 });
    const recent = point("small", { created_at: "2026-02-01T00:00:00Z", speedup: 2 });
    const published = point("small", { evidence: "historical" });
    expect(newestPoints([recent, old, published])).toEqual([recent, published]);
  });

  it("keep published rows that only their labels tell apart", () => {
    const rows = ["22", "30"].map((label) => point("", { evidence: "historical", label }));
    expect(newestPoints(rows)).toEqual(rows);
  });
});

describe("cumulative bars", () => {
  it("rise from scalar WebAssembly, whose own bar is 1", () => {
    const rows = cumulativeRows([
      point("large", { arm_a: "wasm-scalar", arm_b: "webgpu", speedup: 39 }),
      point("large", { arm_a: "wasm-scalar", arm_b: "wasm-simd", speedup: 1.6 }),
      point("large", { arm_a: "wasm-simd-mt", arm_b: "webgpu", speedup: 9 }),
    ]);
    expect(rows.map((row) => [row.arm, row.factor])).toEqual([["wasm-scalar", 1], ["wasm-simd", 1.6], ["webgpu", 39]]);
  });
});
