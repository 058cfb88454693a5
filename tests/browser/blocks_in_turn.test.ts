// A whole run whose blocks are measured in turn, four real browsers at once, beside the same run one block after the other.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Receipt } from "../../orchestrator/dashboard/data/receipt";
import { runAssay } from "./support/assay_program";

const home = mkdtempSync(join(tmpdir(), "assay-in-turn-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const arms = ["--arms", "wasm-simd,wasm-simd-mt"];

function measure(...options: string[]): Receipt {
  const ran = runAssay("run", "--home", home, "--preset", "smoke", ...arms, "--steps", "5", "--warmup", "2", "--policy", "any", "--json", ...options);
  expect(ran.status, ran.stderr).toBe(0);
  return JSON.parse(ran.stdout) as Receipt;
}

const losses = (receipt: Receipt): number[][] => receipt.arms!.map((block) => block.steps!.map((step) => step.loss));

describe("blocks in turn", () => {
  it("have the losses of undivided blocks, bit for bit, and stand in the receipt as those do", () => {
    const whole = measure();
    const in_turn = measure("--slice-steps", "2");
    expect(in_turn.request.slice_steps).toBe(2);
    expect(in_turn.plan).toEqual(["A", "B", "B", "A"]);
    expect(in_turn.arms!.map(({ position, steps, warmup }) => [position, steps!.length, warmup!.length])).toEqual([0, 1, 2, 3].map((position) => [position, 5, 2]));
    expect(losses(in_turn)).toEqual(losses(whole));
    expect(in_turn.verdict.result).toBe("unqualified");
  });

  it("leave nothing behind, and verify", () => {
    const ran = runAssay("run", "--home", home, "--preset", "smoke", ...arms, "--steps", "3", "--slice-steps", "1", "--policy", "any", "--output", join(home, "turn.assay.json"));
    expect(ran.status, ran.stderr).toBe(0);
    expect(ran.stdout).toContain("in turn, 1 step at a time");
    expect(runAssay("verify", join(home, "turn.assay.json")).status).toBe(0);
  });
});
