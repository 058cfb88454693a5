import { describe, expect, it } from "vitest";
import { csvField } from "../components/copy";
import type { Receipt } from "../data/receipt";
import { badgeSvg, stepsCsv } from "./receipt_export";
import { estimateMilliseconds } from "./run_estimate";

const receipt: Receipt = {
  schema: "assay.receipt/1.0",
  id: "r",
  created_at: "2026-11-30T00:00:00Z",
  evidence: "measured",
  machine: { hostname: `<script>"&` },
  request: { preset: "large", steps: 1, warmup: 1, arms: ["a", "b"], quadruples: 1, seed: 1, policy: "any", corpus: "builtin" },
  arms: [{ arm: "=cmd", block: "A", quadruple: 0, position: 0, warmup: [{ wall_ms: 2, loss: 5 }], steps: [{ wall_ms: 1.5, loss: 4, gpu_ms: 1 }] }],
  analysis: { speedup: 9.31 },
  verdict: { result: "verified" },
};

describe("what a reader takes away", () => {
  it("is CSV with warm-up apart and no formula", () => {
    expect(stepsCsv(receipt).trim().split("\r\n")).toEqual([
      "receipt,order,block,arm,quadruple,phase,step,wall_ms,loss,gpu_ms",
      "r,1,A1,'=cmd,0,warmup,1,2,5,",
      "r,1,A1,'=cmd,0,measure,1,1.5,4,1",
    ]);
    expect(csvField('say "x", y')).toBe('"say ""x"", y"');
  });

  it("is a badge with preset, machine and verdict, and no markup from outside", () => {
    const badge = badgeSvg(receipt);
    expect(badge).toContain("9.31× verified");
    expect(badge).toContain("large on &lt;script&gt;&quot;&amp;");
    expect(badge).not.toContain("<script>");
  });
});

describe("the estimate of a run", () => {
  const request = { preset: "large", arms: ["a", "b"] as [string, string], steps: 20, warmup: 5, quadruples: 2 };
  it("is known only from receipts of the same preset and arms", () => {
    expect(estimateMilliseconds(request, [])).toBeUndefined();
    const alike = { id: "x", machine_id: "m", created_at: "", preset: "large", arm_a: "a", arm_b: "b", verdict: "verified" as const, evidence: "measured" as const, a_median_ms: 100, b_median_ms: 10 };
    expect(estimateMilliseconds(request, [{ ...alike, arm_b: "c" }])).toBeUndefined();
    expect(estimateMilliseconds(request, [alike])).toBe(2 * (2 * 25 * 110 + 12_000));
  });
});
