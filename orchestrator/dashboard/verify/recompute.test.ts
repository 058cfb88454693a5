import { describe, expect, it } from "vitest";
import type { ArmRecord, Receipt } from "../data/receipt";
import { blockPairs, median, recompute, stepDrifts } from "./recompute";
import { upperQuantile } from "./student_t";

function block(side: "A" | "B", quadruple: number, position: number, wall_ms: number[], loss: number[] = [5, 4, 3]): ArmRecord {
  const steps = wall_ms.map((value, index) => ({ wall_ms: value, loss: loss[index] ?? 1 }));
  return { arm: side === "A" ? "wasm-simd-mt" : "webgpu", block: side, quadruple, position, steps, warmup: [], errors: [] };
}

function receiptOf(arms: ArmRecord[]): Receipt {
  return {
    schema: "assay.receipt/1.0",
    id: "x",
    created_at: "2026-11-30T00:00:00Z",
    evidence: "measured",
    request: { steps: 3, warmup: 0, arms: ["wasm-simd-mt", "webgpu"], quadruples: 1, seed: 1, policy: "any", corpus: "builtin" },
    arms,
    verdict: { result: "verified" },
  };
}

const abba = [
  block("A", 0, 0, [100, 100, 400]),
  block("B", 0, 1, [10, 10, 10], [5, 4, 3.003]),
  block("B", 0, 2, [11, 11, 11]),
  block("A", 0, 3, [110, 110, 110]),
];

describe("figures from raw samples", () => {
  it("cancel a linear drift over the four blocks", () => {
    const found = recompute(receiptOf(abba));
    expect(found.speedup).toBeCloseTo(10, 12);
    expect(found.repeat_spread.a).toBeCloseTo(Math.log(1.1), 12);
    expect(found.a_median_ms! / found.b_median_ms!).toBeCloseTo(found.speedup!, 12);
    expect(found.interval95).toBeUndefined();
  });

  it("have an interval from three quadruples on", () => {
    const arms = [0, 1, 2].flatMap((quadruple) => [
      block("A", quadruple, 0, [100 + quadruple]),
      block("B", quadruple, 1, [10]),
      block("B", quadruple, 2, [10]),
      block("A", quadruple, 3, [100 + quadruple]),
    ]);
    const found = recompute(receiptOf(arms));
    const d = [100, 101, 102].map((a) => Math.log(a / 10));
    const centre = (d[0]! + d[1]! + d[2]!) / 3;
    const deviation = Math.sqrt(d.reduce((sum, value) => sum + (value - centre) ** 2, 0) / 2);
    const half_width = (4.302652729749464 * deviation) / Math.sqrt(3);
    expect(found.interval95![0]).toBeCloseTo(Math.exp(centre - half_width), 8);
    expect(found.interval95![1]).toBeCloseTo(Math.exp(centre + half_width), 8);
  });

  it("compare the losses of the first A with the first B, and so on", () => {
    expect(blockPairs(abba).map(({ a, b }) => [a.position, b.position])).toEqual([[0, 1], [3, 2]]);
    expect(recompute(receiptOf(abba)).max_loss_drift).toBeCloseTo(0.003 / 3.003, 12);
    expect(stepDrifts([{ wall_ms: 1, loss: 0 }], [{ wall_ms: 1, loss: 0 }])).toEqual([0]);
  });

  it("are absent where the samples do not allow them", () => {
    const found = recompute(receiptOf([]));
    expect(found).toEqual({ quadruples: 0, repeat_spread: {}, details: {}, notes: ["no quadruple is complete: no ratio"] });
    expect(recompute(receiptOf(abba.slice(0, 3))).speedup).toBeUndefined();
    expect(median([])).toBeUndefined();
  });

  it("of a run that chose its count come from the first stage's spread and all quadruples' mean", () => {
    const ratios = [10, 10.2, 9.9, 10.1, 9.8, 10.3, 9.7, 10.4];
    const arms = ratios.flatMap((ratio, quadruple) => [
      block("A", quadruple, 0, [ratio]),
      block("B", quadruple, 1, [1]),
      block("B", quadruple, 2, [1]),
      block("A", quadruple, 3, [ratio]),
    ]);
    const receipt = receiptOf(arms);
    receipt.request.quadruples = { auto: { bound: 20, half_width: 0.02 } };
    const found = recompute(receipt);
    const d = ratios.map(Math.log);
    const average = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
    const first = d.slice(0, 6);
    const deviation = Math.sqrt(first.reduce((sum, value) => sum + (value - average(first)) ** 2, 0) / 5);
    const half_width = (2.570581835636314 * deviation) / Math.sqrt(8);
    expect(found.interval95![0]).toBeCloseTo(Math.exp(average(d) - half_width), 10);
    expect(found.interval95![1]).toBeCloseTo(Math.exp(average(d) + half_width), 10);
    expect(found.details["quadruples_wanted"]).toBe(Math.max(6, Math.ceil(((2.570581835636314 * deviation) / Math.asinh(0.02)) ** 2)));
  });
});

describe("Student's t", () => {
  it.each([
    [1, 12.706204736432095],
    [2, 4.302652729749464],
    [5, 2.570581835636314],
    [30, 2.042272456301238],
    [1000, 1.962339080792162],
  ])("has its published 97.5 %% quantile at %i degrees of freedom", (degrees, expected) => {
    expect(upperQuantile(0.025, degrees)).toBeCloseTo(expected, 8);
  });
});
