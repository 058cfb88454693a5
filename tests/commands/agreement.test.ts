// The program and the page's verifier judge the same files alike: honest receipts, and forgeries with good signatures.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Receipt } from "../../orchestrator/dashboard/data/receipt";
import { checkFigures } from "../../orchestrator/dashboard/verify/check_figures";
import { openEnvelope } from "../../orchestrator/dashboard/verify/envelope";
import { SeededRandom } from "../../orchestrator/dashboard/verify/statistics";
import { assay, jsonLines, root, temporaryFolder } from "./support/program";
import { judgeAgain, longerRun, realFile, realReceipt, sealedFile } from "./support/receipts";

const folder = temporaryFolder();

async function validOnThePage(file: string): Promise<{ valid: boolean; faults: string }> {
  const opened = await openEnvelope(readFileSync(file, "utf8"));
  const checks = opened.receipt === undefined ? opened.checks : [...opened.checks, ...checkFigures(opened.receipt)];
  const faults = checks.filter(({ outcome }) => outcome !== "passed");
  return { valid: faults.length === 0, faults: faults.map(({ name, detail }) => `${name}: ${detail}`).join("\n") };
}

async function bothSay(files: string[], valid: boolean): Promise<void> {
  const answers = jsonLines(assay(folder, "verify", "--json", ...files).out);
  expect(answers).toHaveLength(files.length);
  for (const [index, file] of files.entries()) {
    const page = await validOnThePage(file);
    expect.soft({ file, valid: answers[index]!["valid"], reasons: valid ? answers[index]!["reasons"] : [] }).toEqual({ file, valid, reasons: [] });
    expect.soft({ file, page: page.valid, faults: valid ? page.faults : "" }).toEqual({ file, page: valid, faults: "" });
  }
}

describe("the program and the page", () => {
  it("find real receipts valid", async () => {
    await bothSay(["small", "medium", "large", "xl", "refused"].map(realFile), true);
  });

  it("find runs of any count valid, chosen counts too", async () => {
    const plans = [
      { quadruples: 1 },
      { quadruples: 2, ratio: 1.02 },
      { quadruples: 3, noise: 0.3 },
      { quadruples: 5, noise: 0.001, ratio: 1 },
      { quadruples: { auto: { bound: 3, half_width: 0.05 } }, ran: 3 },
      { quadruples: { auto: { bound: 20, half_width: 0.05 } }, ran: 6 },
      // Broken off after two of its six, and with a bound that was met.
      { quadruples: { auto: { bound: 20, half_width: 0.05 } }, ran: 2 },
      { quadruples: { auto: { bound: 8, half_width: 0.001 } }, ran: 8, noise: 0.2 },
    ];
    const files = plans.map((plan, index) => sealedFile(folder, `run-${index}`, longerRun({ ...plan, seed: index + 1 })));
    await bothSay(files, true);
  });

  it("find imported figures valid, since they claim to be nothing else", async () => {
    const historical = ["curve", "cumulative", "apple-m5-pro"].map((name) => join(root, `results/historical/${name}.json`));
    const files = assay(folder, "import", ...historical)
      .out.split("\n")
      .flatMap((line) => /\S+\.assay\.json$/.exec(line) ?? []);
    expect(files.length).toBeGreaterThan(10);
    await bothSay(files, true);
  });

  it("find broken and dishonest runs of every kind, judged as they deserve, valid", async () => {
    const changes: ((receipt: Receipt) => void)[] = [
      (r) => r.arms!.pop(),
      (r) => r.arms![1]!.steps!.pop(),
      (r) => r.arms![2]!.errors!.push("device-lost: the device was lost"),
      (r) => (r.arms![2]!.weights_sha256 = "f".repeat(64)),
      (r) => delete r.arms![3]!.corpus_sha256,
      (r) => r.arms![1]!.steps!.forEach((step) => (step.loss *= 1.2)),
      (r) => r.arms![0]!.steps!.forEach((step) => (step.wall_ms = 0)),
      (r) => (r.arms![0]!.block = "B"),
      (r) => (r.request.quadruples = 3),
      (r) => (r.arms = []),
      (r) => r.verdict.reasons!.unshift({ code: "run-interrupted", message: "The process ended." }),
      (r) => r.verdict.reasons!.unshift({ code: "adapter-software", message: "A software adapter." }),
      (r) => r.verdict.reasons!.push({ code: "gate-refused-midway", message: "No." }),
      (r) => (r.arms![0]!.steps![4]!.wall_ms = 1e6),
      (r) => r.arms!.forEach((block) => block.steps!.forEach((step) => (step.wall_ms = 7))),
      (r) => r.arms!.forEach((block) => block.steps!.forEach((step) => (step.wall_ms *= 1e-9))),
    ];
    const files = changes.map((change, index) => {
      const receipt = realReceipt("small");
      change(receipt);
      return sealedFile(folder, `broken-${index}`, judgeAgain(receipt));
    });
    await bothSay(files, true);
  });

  it("find forgeries invalid, whose figures do not follow from their samples", async () => {
    const forgeries: ((receipt: Receipt) => void)[] = [
      (r) => (r.analysis!.speedup! *= 1.000001),
      (r) => delete r.analysis!.interval95,
      (r) => (r.analysis!.interval95![0]! *= 1.001),
      (r) => (r.analysis!.details!["quadruples_wanted"] = 6.5),
      (r) => (r.analysis!.details!["bootstrap95_low"]! *= 1.0001),
      (r) => (r.analysis!.details!["invented"] = 1),
      (r) => (r.analysis!.notes = ["99 of 100 steps were fast"]),
      (r) => (r.analysis!.quadruples = 7),
      (r) => (r.arms![5]!.median_step_ms! *= 2),
      (r) => (r.arms![5]!.final_loss! *= 2),
      (r) => r.arms![5]!.steps!.reverse().forEach((step, index) => (step.wall_ms *= 1 + index)),
      (r) => (r.verdict.result = "unqualified"),
      (r) => (r.verdict.precision = "spread"),
      (r) => (r.verdict.reasons![0]!.message = "It is 99 times as fast."),
      (r) => (r.verdict.reasons![0]!.facts!["half_width"] = "0.00001"),
      (r) => (r.verdict.reasons = []),
      (r) => (r.request.preset = "xl"),
      (r) => (r.model!.flops_per_step! *= 2),
      (r) => (r.request.seed = 43),
      (r) => r.plan!.reverse(),
      (r) => (r.schema = "assay.receipt/2.0"),
      (r) => (r.evidence = "gold" as never),
      (r) => (r.arms![3]!.cold_start_ms! /= 2),
      (r) => (r.chain!.machine_id = "0123456789abcdef"),
      (r) => (r.arms![2]!.adapter_after!.page!.is_fallback = true),
      (r) => delete r.arms![2]!.adapter_before!.page!.is_fallback,
      (r) => (r.arms![2]!.adapter_before!.page!.architecture = "swiftshader"),
      (r) => (r.request.policy = "apple-metal-3"),
      (r) => (r.request.policy = "any"),
      (r) => delete r.arms![7]!.adapter_before,
      (r) => {
        const { adapter_before: _, adapter_after: __, ...block } = r.arms![0]!;
        r.arms = Array.from({ length: 1000 }, (_, index) => ({ ...block, quadruple: index >> 2 }));
      },
      (r) => (r.request.quadruples = 6),
    ];
    const files = forgeries.map((forge, index) => {
      const receipt = longerRun({ quadruples: { auto: { bound: 20, half_width: 0.05 } }, ran: 6, noise: 0.02 });
      forge(receipt);
      return sealedFile(folder, `forged-${index}`, receipt);
    });
    await bothSay(files, false);
  });

  it("find no real receipt with a random byte changed valid", async () => {
    const random = new SeededRandom(8n);
    const files = Array.from({ length: 60 }, (_, index) => {
      const bytes = readFileSync(realFile(["small", "refused", "xl"][index % 3]!));
      bytes[random.below(bytes.length)]! ^= 1 + random.below(127);
      const file = join(folder, `byte-${index}.assay.json`);
      writeFileSync(file, bytes);
      return file;
    });
    await bothSay(files, false);
  });
});
