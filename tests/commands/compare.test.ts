// `assay compare`: the same work or not, and what a pipeline may make of it.

import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Receipt } from "../../orchestrator/dashboard/data/receipt";
import { assay, exit, temporaryFolder } from "./support/program";
import { judgeAgain, longerRun, realFile, realReceipt, sealedFile } from "./support/receipts";

const folder = temporaryFolder();

interface Compared {
  same_work: boolean;
  comparable: boolean;
  differences: { kind: string; field: string; first: string; second: string; why: string }[];
  ratio: { value: number; interval95?: [number, number] };
  a_ratio: { value: number };
  b_ratio: { value: number };
}

function compare(first: string, second: string, ...more: string[]): { code: number | null; found: Compared } {
  const answer = assay(folder, "compare", first, second, "--json", ...more);
  return { code: answer.code, found: JSON.parse(answer.out) as Compared };
}

/** The real run "small" with one thing changed, sealed. */
function changed(name: string, change: (receipt: Receipt) => void): string {
  const receipt = realReceipt("small");
  change(receipt);
  return sealedFile(folder, name, judgeAgain(receipt));
}

/** A run of six quadruples of which B is `factor` times as fast as the first one's. */
const before = sealedFile(folder, "before", longerRun({ quadruples: 6, ratio: 10, seed: 1 }));
const after = sealedFile(folder, "after", longerRun({ quadruples: 6, ratio: 8, seed: 2 }));

describe("assay compare", () => {
  it("says that a run compared with itself is the same work at a ratio of 1", () => {
    const { code, found } = compare(realFile("small"), realFile("small"));
    expect(code).toBe(exit.done);
    expect(found).toMatchObject({ same_work: true, comparable: true, differences: [], ratio: { value: 1 } });
    expect(assay(folder, "compare", realFile("small"), realFile("small")).out).toContain("The same work.");
  });

  it("names exactly the fields in which the work differs, with what each means, and refuses", () => {
    const { code, found } = compare(realFile("small"), realFile("medium"));
    expect(code).toBe(exit.invalid);
    expect(found.same_work).toBe(false);
    const work = found.differences.filter(({ kind }) => kind === "work").map(({ field }) => field);
    expect(work).toEqual(["layers", "d_model", "ctx", "heads"].map((name) => `/model/${name}`).concat("/inputs/weights_sha256", "/inputs/batches_sha256"));
    for (const { why } of found.differences) expect(why).toMatch(/^[A-Z].*\.$/);
    const text = assay(folder, "compare", realFile("small"), realFile("medium")).out;
    expect(text).toContain("Not the same work: the numbers must not be compared.");
    expect(text).toMatch(/\/model\/layers: 3 against 4\. Another size is another amount of work/);
  });

  it.each([
    ["another arm", "work", "/request/arms/0", (r: Receipt) => {
      r.request.arms[0] = "wasm-simd" as never;
      r.arms!.filter(({ block }) => block === "A").forEach((block) => (block.arm = "wasm-simd"));
    }],
    ["another corpus", "work", "/inputs/corpus_sha256", (r: Receipt) => {
      r.inputs!.corpus_sha256 = "a".repeat(64);
      r.arms!.forEach((block) => (block.corpus_sha256 = "a".repeat(64)));
    }],
    ["fewer steps", "work", "/request/steps", (r: Receipt) => {
      r.request.steps = 10;
      r.arms!.forEach((block) => block.steps!.splice(10));
    }],
    ["an optimiser made slow", "work", "/request/repeat_optimizer", (r: Receipt) => (r.request.repeat_optimizer = 3)],
    ["another browser", "conditions", "/browser/product", (r: Receipt) => (r.browser!.product = "Chrome/1")],
    ["other served code", "conditions", "/inputs/assets", (r: Receipt) => (r.inputs!.assets!["/arm/index.html"] = "b".repeat(64))],
    ["other threads", "conditions", "/request/threads", (r: Receipt) => (r.request.threads = 2)],
    ["another processor", "conditions", "/machine/cpu_model", (r: Receipt) => (r.machine!.cpu_model = "Z80")],
    ["a run that broke off", "proof", "/verdict/result", (r: Receipt) => r.arms!.pop()],
  ])("tells %s as a difference of %s", (name, kind, field, change) => {
    const { code, found } = compare(realFile("small"), changed(name.replaceAll(" ", "-"), change as (r: Receipt) => void));
    expect(found.differences.map((difference) => ({ kind: difference.kind, field: difference.field }))).toContainEqual({ kind, field });
    expect(found.same_work).toBe(kind !== "work");
    expect(code).toBe(kind === "conditions" ? exit.done : exit.invalid);
  });

  it("gives the ratio with its interval from three quadruples on, in both directions", () => {
    const { found } = compare(before, after);
    expect(found.ratio.value).toBeCloseTo(0.8, 1);
    expect(found.ratio.interval95![0]).toBeLessThan(found.ratio.value);
    expect(found.ratio.interval95![1]).toBeGreaterThan(found.ratio.value);
    const back = compare(after, before).found;
    expect(back.ratio.value).toBeCloseTo(1 / found.ratio.value, 10);
    expect(back.ratio.interval95![0]).toBeCloseTo(1 / found.ratio.interval95![1], 10);
    expect(compare(realFile("small"), realFile("small")).found.ratio.interval95).toBeUndefined();
  });

  it("does not mix published figures with measured ones", () => {
    const figures = { schema: "assay.published-history/1.0", source: "a talk", figures: [{ evidence: "historical", preset: "small", arms: ["wasm-simd-mt", "webgpu"], speedup: 2.6 }] };
    writeFileSync(join(folder, "talk.json"), JSON.stringify(figures));
    const imported = /\S+\.assay\.json/.exec(assay(folder, "import", "talk.json").out)![0];
    const { code, found } = compare(imported, realFile("small"));
    expect(code).toBe(exit.invalid);
    expect(found.differences).toContainEqual(expect.objectContaining({ kind: "proof", field: "/evidence", first: "historical", second: "measured" }));
  });
});

describe("--fail-if", () => {
  const fails = (condition: string, first = before, second = after): number | null => assay(folder, "compare", first, second, "--fail-if", condition).code;

  it("fails where the condition holds and passes where it does not", () => {
    expect(fails("ratio<0.95")).toBe(exit.invalid);
    expect(fails("ratio<0.95", after, before)).toBe(exit.done);
    expect(fails("ratio<0.95", before, before)).toBe(exit.done);
    expect(fails("ratio_high<0.95")).toBe(exit.invalid);
    expect(fails("ratio_low > 1 or drift>0.05")).toBe(exit.done);
    expect(fails("ratio<0.95 and b_ratio<0.95")).toBe(exit.done);
    expect(fails("ratio<0.95 && a_ratio>1.1 || drift>1")).toBe(exit.invalid);
    expect(assay(folder, "compare", before, after, "--fail-if", "ratio<0.95").err).toContain("the condition holds: ratio<0.95");
  });

  it("never passes in silence when the work differs or a figure is missing", () => {
    expect(fails("ratio<0.95", realFile("small"), realFile("medium"))).toBe(exit.invalid);
    const missing = assay(folder, "compare", realFile("small"), realFile("small"), "--fail-if", "ratio_high<0.95");
    expect(missing.code).toBe(exit.usage);
    expect(missing.err).toMatch(/no figure "ratio_high" here; there are .*ratio/);
  });

  it.each(["", "ratio", "ratio<", "<0.95", "ratio=0.95", "ratio<0.95 xor drift>1", "ratio<0.95 and", "ratio<1e999", "ratio<nan", "rätio<1"])(
    'takes "%s" for a usage error with a remedy',
    (condition) => {
      const answer = assay(folder, "compare", before, after, "--fail-if", condition);
      expect(answer.code).toBe(exit.usage);
      expect(answer.err).toMatch(/--fail-if.*Write it like "ratio<0\.95"/);
    },
  );
});

describe("what cannot be compared", () => {
  it("a file that does not verify, that is missing, or a name that nobody has", () => {
    const forged = realReceipt("small");
    forged.analysis!.speedup! *= 2;
    const answer = assay(folder, "compare", realFile("small"), sealedFile(folder, "forged", forged));
    expect(answer.code).not.toBe(exit.done);
    expect(answer.err).toMatch(/does not verify: \/analysis\/speedup/);
    const nobody = assay(folder, "compare", "machine-of-nobody", realFile("small"));
    expect(nobody.code).toBe(exit.usage);
    expect(nobody.err).toContain("is no file, no receipt's id and no machine with a receipt");
  });
});
