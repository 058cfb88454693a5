import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Receipt } from "../data/receipt";
import { checkFigures } from "./check_figures";
import { makePlan } from "./plan";

const example = readFileSync(new URL("../../../protocols/examples/valid/receipt.measured.json", import.meta.url), "utf8");
const refused = readFileSync(new URL("../../../protocols/examples/valid/receipt.refused.json", import.meta.url), "utf8");

const measured = (): Receipt => JSON.parse(example) as Receipt;

function failures(receipt: Receipt): string[] {
  return checkFigures(receipt)
    .filter((check) => check.outcome === "failed")
    .map((check) => check.name);
}

describe("a receipt's figures", () => {
  it("hold in the examples that ship with the schema", () => {
    expect(failures(measured())).toEqual([]);
    expect(checkFigures(measured()).length).toBeGreaterThan(5);
    expect(failures(JSON.parse(refused) as Receipt)).toEqual([]);
  });

  const forgeries: [string, string, (receipt: Receipt) => void][] = [
    ["a faster speed-up", "speed-up", (r) => (r.analysis!.speedup! *= 1.001)],
    ["a speed-up left out", "speed-up", (r) => delete r.analysis!.speedup],
    ["an interval from nowhere", "interval, low end", (r) => (r.analysis!.interval95 = [9, 10])],
    ["another block median", "median of block 1", (r) => (r.arms![0]!.median_step_ms = 1)],
    ["another last loss", "last loss of block 2", (r) => (r.arms![1]!.final_loss = 1)],
    ["another count of quadruples", "quadruples", (r) => (r.analysis!.quadruples = 9)],
    ["an invented detail", "detail invented", (r) => (r.analysis!.details = { invented: 1 })],
    ["an invented number in a note", "notes", (r) => (r.analysis!.notes = ["99 of 100 steps were fast"])],
    ["more operations a step", "operations a step", (r) => (r.model!.flops_per_step! *= 2)],
    ["the sizes of another preset", "layers", (r) => (r.request.preset = "large")],
    ["another order than the seed's", "plan", (r) => (r.plan = ["B", "A", "A", "B"])],
    ["another verdict", "verdict", (r) => (r.verdict.result = r.verdict.result === "verified" ? "inconclusive" : "verified")],
    ["no reasons", "reasons", (r) => (r.verdict.reasons = [])],
    ["a sample changed", "median of A", (r) => r.arms![0]!.steps!.forEach((step) => (step.wall_ms *= 2))],
    ["an unknown major version", "receipt", (r) => (r.schema = "assay.receipt/2.0")],
    ["times that are texts", "receipt", (r) => (r.arms![0]!.steps![0]!.wall_ms = "5" as unknown as number)],
  ];
  it.each(forgeries)("are refused for %s", (_, name, forge) => {
    const receipt = measured();
    forge(receipt);
    expect(failures(receipt)).toContain(name);
  });

  it("are refused where a reason states a number that the samples do not give", () => {
    const receipt = measured();
    const last = receipt.verdict.reasons!.at(-1)!;
    last.message += " It is 12345 times as fast.";
    expect(failures(receipt)).toEqual([`reason ${last.code}`]);
  });

  it("that somebody stated are shown as that, and can be no more than unqualified", () => {
    const receipt = JSON.parse(refused) as Receipt;
    receipt.evidence = "historical";
    receipt.arms = [];
    receipt.plan = [];
    receipt.analysis = { quadruples: 0, speedup: 9.3 };
    receipt.verdict = { result: "unqualified", reasons: [{ code: "evidence-historical", message: "No samples." }] };
    expect(failures(receipt)).toEqual([]);
    receipt.verdict.result = "verified";
    expect(failures(receipt)).toEqual(["verdict"]);
  });
});

describe("the plan", () => {
  it("is ABBA for one quadruple, and one of each order in a pair for more", () => {
    expect(makePlan(1, 7n, true).join("")).toBe("ABBA");
    for (let seed = 1n; seed < 20n; seed += 1n) {
      const orders = makePlan(4, seed, true).join("").match(/.{4}/g)!;
      expect(new Set(orders.slice(0, 2)).size).toBe(2);
      expect(new Set(orders.slice(2)).size).toBe(2);
    }
    expect(makePlan(2, 7n, false).join("")).toBe("ABBAABBA");
  });
});
