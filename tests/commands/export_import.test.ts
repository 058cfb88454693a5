// `assay export` and `assay import`: figures out as tables, summaries and badges; published figures in, as what they are.

import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Receipt } from "../../orchestrator/dashboard/data/receipt";
import { assay, exit, jsonLines, root, temporaryFolder } from "./support/program";
import { innerOf, judgeAgain, realFile, realReceipt, sealedFile } from "./support/receipts";

const folder = temporaryFolder();
const small = realReceipt("small");

/** Rows of a CSV text by RFC 4180. */
function rowsOf(csv: string): string[][] {
  expect(csv.endsWith("\r\n")).toBe(true);
  return csv
    .slice(0, -2)
    .split("\r\n")
    .map((line) => [...`,${line}`.matchAll(/,("(?:[^"]|"")*"|[^,]*)/g)].map(([, field]) => field!.replace(/^"|"$/g, "").replaceAll('""', '"')));
}

function table(format: "csv" | "jsonl", name: string, ...files: string[]): string {
  const answer = assay(folder, "export", "--format", format, "--table", name, ...files);
  expect(answer.err).toBe("");
  expect(answer.code).toBe(exit.done);
  return answer.out;
}

describe("assay export", () => {
  it("writes every step of every block as CSV, warm-up apart, exactly as measured", () => {
    const [header, ...rows] = rowsOf(table("csv", "steps", realFile("small")));
    expect(header).toEqual(["receipt", "order", "arm", "block", "quadruple", "position", "phase", "step", "wall_ms", "loss", "gpu_ms"]);
    expect(rows).toHaveLength(4 * (20 + 3));
    const third = rows.filter((row) => row[1] === "3" && row[6] !== "warmup");
    expect(third.map((row) => Number(row[8]))).toEqual(small.arms![2]!.steps!.map((step) => step.wall_ms));
    expect(third.map((row) => Number(row[9]))).toEqual(small.arms![2]!.steps!.map((step) => step.loss));
    for (const row of rows) expect(row).toHaveLength(header!.length);
  });

  it("writes arms and receipts, one row each, of many files, and leaves empty what was not measured", () => {
    const arms = rowsOf(table("csv", "arms", realFile("small"), realFile("large")));
    expect(arms).toHaveLength(1 + 8);
    const [header, ...receipts] = rowsOf(table("csv", "receipts", realFile("small"), realFile("refused")));
    const column = (name: string): number => header!.indexOf(name);
    expect(receipts.map((row) => row[column("verdict")])).toEqual(["verified", "refused"]);
    expect(Number(receipts[0]![column("speedup")])).toBe(small.analysis!.speedup);
    expect(receipts[1]![column("speedup")]).toBe("");
    expect(receipts[0]![column("interval95_low")]).toBe("");
  });

  it.each(["steps", "arms", "receipts"])("writes %s as JSON Lines with the names of the CSV's columns", (name) => {
    const rows = jsonLines(table("jsonl", name, realFile("small"), realFile("refused")));
    const [header, ...csv] = rowsOf(table("csv", name, realFile("small"), realFile("refused")));
    expect(rows).toHaveLength(csv.length);
    for (const [index, row] of rows.entries()) {
      const filled = header!.filter((_, column) => csv[index]![column] !== "");
      expect(Object.keys(row)).toEqual(filled);
      expect(Object.values(row)).not.toContain(null);
    }
  });

  it("writes a Markdown summary with ratio, arms, verdict and reasons", () => {
    const answer = assay(folder, "export", "--format", "markdown", realFile("small"), realFile("refused"));
    expect(answer.out).toContain(`### Assay: small on ${small.machine!.hostname}: verified`);
    expect(answer.out).toContain(`**${small.analysis!.speedup!.toPrecision(4)}x, a point without an interval (1 quadruple)**`);
    expect(answer.out).toContain(`| A | wasm-simd-mt | ${small.analysis!.a_median_ms!.toPrecision(3)} ms |`);
    expect(answer.out).toContain("`adapter-software`");
  });

  it("writes a badge whose text states preset, machine, ratio and verdict", () => {
    const svg = assay(folder, "export", "--format", "badge", realFile("small")).out;
    expect(svg).toMatch(/^<svg xmlns=/);
    expect(svg).toContain(`aria-label="assay small on ${small.machine!.hostname}: ${small.analysis!.speedup!.toPrecision(3)}x verified"`);
    expect(assay(folder, "export", "--format", "badge", realFile("refused")).out).toContain("refused");
  });

  it("makes neither markup nor a formula of what a machine is called", () => {
    const hostile = realReceipt("small");
    hostile.machine!.hostname = '=cmd|"<script>alert(1)</script>';
    const file = sealedFile(folder, "hostile", hostile);
    expect(rowsOf(table("csv", "receipts", file))[1]!.find((field) => field.includes("cmd"))).toMatch(/^'=cmd/);
    expect(assay(folder, "export", "--format", "badge", file).out).not.toContain("<script");
    expect(assay(folder, "export", "--format", "markdown", file).out).not.toContain("<script");
  });

  it("exports nothing that does not verify, and names the formats that it knows", () => {
    const forged = realReceipt("small");
    forged.analysis!.speedup! *= 2;
    const answer = assay(folder, "export", sealedFile(folder, "forged", forged));
    expect(answer).toMatchObject({ out: "", code: exit.failed });
    const unknown = assay(folder, "export", "--format", "xlsx", realFile("small"));
    expect(unknown.code).toBe(exit.usage);
    expect(unknown.err).toMatch(/csv.*jsonl.*markdown.*badge/);
  });
});

describe("assay import", () => {
  const historical = readdirSync(join(root, "results/historical")).map((name) => join(root, "results/historical", name));
  const home = temporaryFolder();
  const imported = (): Receipt[] => {
    const receipts = join(home, "data/assay/receipts");
    return readdirSync(receipts).map((name) => innerOf(readFileSync(join(receipts, name), "utf8")));
  };

  it("takes the published history as what it is, never as measured", () => {
    const answer = assay(home, "import", ...historical);
    expect(answer.code).toBe(exit.done);
    const all = imported();
    expect(new Set(all.map(({ evidence }) => evidence))).toEqual(new Set(["historical", "projected", "observed", "not-measured"]));
    for (const receipt of all) expect(receipt).toMatchObject({ arms: [], verdict: { result: "unqualified" } });

    const curve = (preset: string): number | undefined =>
      all.find((r) => r.evidence === "historical" && r.request.preset === preset && r.request.arms.join() === "wasm-simd-mt,webgpu")?.analysis?.speedup;
    expect(["small", "medium", "large", "xl"].map(curve)).toEqual([2.6, 6.8, 9.3, 12.1]);
    const drifts = all.filter((r) => r.evidence === "historical" && r.analysis?.max_loss_drift !== undefined).map((r) => r.analysis!.max_loss_drift);
    expect([...drifts].sort()).toEqual([0.011, 0.014, 0.019, 0.025]);
    const cumulative = all.filter((r) => r.request.arms[0] === "wasm-scalar").map((r) => r.analysis!.speedup);
    expect(cumulative.sort((x, y) => x! - y!)).toEqual([1, 1.6, 3.2, 8.3, 22, 30, 39]);
    for (const receipt of all.filter(({ evidence }) => evidence === "projected")) expect(receipt.analysis!.speedup).toBeGreaterThanOrEqual(15);

    const observed = all.find(({ evidence }) => evidence === "observed")!;
    expect(observed.analysis).toMatchObject({ speedup: 10.67, a_median_ms: 1462.5, b_median_ms: 137.1, max_loss_drift: 0.0472 });
    expect(observed.adapter!.page).toMatchObject({ vendor: "apple", architecture: "metal-3" });
    expect(observed.browser!.product).toContain("151");
    const native = all.find(({ request }) => request.arms.includes("native" as never))!;
    expect(native.evidence).toBe("not-measured");
    expect(native.analysis!.speedup).toBeUndefined();
  });

  const figure = { evidence: "historical", preset: "small", arms: ["wasm-simd-mt", "webgpu"], speedup: 2.6 };
  const history = { schema: "assay.published-history/1.0", source: "a talk", figures: [figure] };
  it.each([
    ["a measured figure", "/figures/0/evidence", { ...history, figures: [{ ...figure, evidence: "measured" }] }],
    ["a ratio of zero", "/figures/0/speedup", { ...history, figures: [{ ...figure, speedup: 0 }] }],
    ["a ratio that is a text", "/figures/0/speedup", { ...history, figures: [{ ...figure, speedup: "2.6" }] }],
    ["an unknown preset", "/figures/0/preset", { ...history, figures: [{ ...figure, preset: "gigantic" }] }],
    ["an unknown arm", "/figures/0/arms/1", { ...history, figures: [{ ...figure, arms: ["wasm-simd", "abacus"] }] }],
    ["an unknown key", "/figures/0/colour", { ...history, figures: [{ ...figure, colour: "red" }] }],
    ["no source", "/source", { schema: history.schema, figures: [] }],
    ["a newer major version", "/schema", { ...history, schema: "assay.published-history/2.0" }],
    ["a figure beside not-measured", "/figures/0/speedup", { ...history, figures: [{ ...figure, evidence: "not-measured" }] }],
  ])("refuses %s and names the field", (name, pointer, content) => {
    const file = join(folder, `history-${name.replaceAll(" ", "-")}.json`);
    writeFileSync(file, JSON.stringify(content));
    const before = imported().length;
    const answer = assay(home, "import", file);
    expect(answer.code).toBe(exit.usage);
    expect(answer.err).toContain(`${pointer}: `);
    expect(answer.err).toContain(file);
    expect(imported()).toHaveLength(before);
  });

  it("refuses what is no JSON, and files that are too large or missing", () => {
    const file = join(folder, "hostile.json");
    for (const text of ['{"schema": NaN}', "", '{"schema":"assay.published-history/1.0"', "\xff\xfe"]) {
      writeFileSync(file, text, "latin1");
      expect(assay(home, "import", file).err).toContain("is not JSON");
    }
    writeFileSync(file, " ".repeat((1 << 20) + 1));
    expect(assay(home, "import", file).err).toContain("is larger than 1 MiB");
    expect(assay(home, "import", join(folder, "nowhere.json"))).toMatchObject({ code: exit.usage });
  });
});

it("a judged receipt stays judged alike", () => {
  expect(judgeAgain(realReceipt("small")).verdict).toEqual(small.verdict);
});
