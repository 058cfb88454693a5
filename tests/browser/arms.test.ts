// Whole arms in a real browser, on the software adapter: do WebAssembly and WebGPU do the same work on the same inputs?

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser } from "playwright-core";
import { ArmSession, armConfig, median, runArm, servedTree, smoke, tiny, type ArmRun } from "./support/arm_session";
import { loadTrainer } from "../../trainer_wasm/web/trainer_module";
import { largestTensorError, modelGradients } from "../kernels/model_reference";
import { launchChromium } from "./support/chromium";
import { serveFolders, type StaticServer } from "./support/static_server";

const both_arms = ["wasm-simd-mt", "webgpu"] as const;

let server: StaticServer;
let browser: Browser;

beforeAll(async () => {
  server = await serveFolders({ "/": servedTree(true), "/corpus/": fileURLToPath(new URL("./corpus/", import.meta.url)) });
  browser = await launchChromium({ webgpu: true });
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

/** Largest |a - b| / |b| over steps. */
function largestDrift(a: readonly number[], b: readonly number[]): number {
  return Math.max(...a.map((loss, index) => Math.abs(loss - b[index]!) / Math.abs(b[index]!)));
}

function expectSameInputs(a: ArmRun, b: ArmRun): void {
  for (const digest of ["weights_sha256", "batches_sha256", "corpus_sha256"] as const) {
    expect(a.prepared[digest]).toBe(b.prepared[digest]);
  }
  expect(a.prepared.parameters).toBe(b.prepared.parameters);
}

describe("WebAssembly and WebGPU on smoke", () => {
  const runs = new Map<string, ArmRun>();
  beforeAll(async () => {
    for (const arm of both_arms) runs.set(arm, await runArm(browser, server.origin, armConfig(arm)));
  });

  it("train on the same weights, batches and corpus", () => {
    expectSameInputs(runs.get("wasm-simd-mt")!, runs.get("webgpu")!);
  });

  it("start at a loss of about ln 256 and within 1e-5 of each other", () => {
    const [wasm, webgpu] = both_arms.map((arm) => runs.get(arm)!.losses[0]!);
    expect(wasm).toBeGreaterThan(5.45);
    expect(wasm).toBeLessThan(5.65);
    expect(largestDrift([webgpu!], [wasm!])).toBeLessThan(1e-5);
  });

  it("emit every step once, with warm-up apart", () => {
    for (const arm of both_arms) {
      const run = runs.get(arm)!;
      expect(run.losses).toHaveLength(20);
      expect(run.wall_ms).toHaveLength(20);
      expect(run.warmup_losses).toHaveLength(1);
      expect(run.done.steps).toBe(20);
    }
  });

  it("end with a lower loss than they began with", () => {
    for (const arm of both_arms) expect(runs.get(arm)!.losses.at(-1)!).toBeLessThan(runs.get(arm)!.losses[0]!);
  });

  it.each(both_arms)("%s repeats bit for bit, whatever the number of warm-up steps", async (arm) => {
    const again = await runArm(browser, server.origin, armConfig(arm, { warmup: 4 }));
    expect(again.losses).toEqual(runs.get(arm)!.losses);
    expect(again.warmup_losses).toHaveLength(4);
  });

  it("webgpu needs less than a second a step even here", () => {
    expect(median(runs.get("webgpu")!.wall_ms)).toBeLessThan(1_000);
  });

  it.each(both_arms)("%s lengthens the measured step when only the optimiser is slowed", async (arm) => {
    // The optimiser is a small part of a step, so that it takes many repeats to stand out of the noise; fewer where a
    // pass of it costs more.
    const repeats = arm === "webgpu" ? 100 : 400;
    const slow = await runArm(browser, server.origin, armConfig(arm, { steps: 5, options: { repeat_optimizer: repeats } }));
    const plain = await runArm(browser, server.origin, armConfig(arm, { steps: 5 }));
    expect(median(slow.wall_ms)).toBeGreaterThan(1.5 * median(plain.wall_ms));
    expect(slow.losses).toEqual(plain.losses);
  });

  it.each(both_arms)("%s measures pipelined throughput where asked for", async (arm) => {
    const run = await runArm(browser, server.origin, armConfig(arm, { steps: 2, pipelined_steps: 4 }));
    expect(run.done.pipelined_step_ms).toBeGreaterThan(0);
  });
});

describe("WebAssembly and WebGPU on tiny", () => {
  it("drift apart by at most 0.1 % in 20 steps on a text of its own", async () => {
    const text = readFileSync(new URL("./corpus/plain.txt", import.meta.url));
    const sha256 = createHash("sha256").update(text).digest("hex");
    const overrides = { model: tiny, corpus: { url: "/corpus/plain.txt", sha256 } };
    const wasm = await runArm(browser, server.origin, armConfig("wasm-simd-mt", overrides));
    const webgpu = await runArm(browser, server.origin, armConfig("webgpu", overrides));
    expectSameInputs(wasm, webgpu);
    expect(wasm.prepared.corpus_sha256).toBe(sha256);
    expect(largestDrift(webgpu.losses, wasm.losses)).toBeLessThan(1e-3);
    expect(wasm.losses.at(-1)!).toBeLessThan(wasm.losses[0]!);
  }, 600_000);
});

describe("gradients at the initial weights", () => {
  it.each(both_arms)("%s agrees with the double-precision model to 1e-4, tensor by tensor", async (arm) => {
    const inputs = await loadTrainer({
      variant: "inputs",
      shape: smoke,
      threads: 1,
      seed: 42n,
      mode: "inputs",
      corpus: "builtin",
      baseUrl: pathToFileURL(`${servedTree(true)}/wasm/`),
    });
    const batch = inputs.batch(1);
    const wanted = modelGradients(smoke, Float64Array.from(inputs.parameters()), batch.tokens.slice(), batch.targets.slice());
    const session = await ArmSession.open(browser, server.origin);
    expect(await session.prepare(armConfig(arm))).toBe(true);
    const got = await session.gradients(1);
    await session.close();
    inputs.dispose();
    expect(Math.abs(got.loss - wanted.loss) / wanted.loss).toBeLessThan(1e-5);
    expect(largestTensorError(smoke, got.gradients, wanted.gradients)).toBeLessThan(1e-4);
  });
});

describe("a running arm", () => {
  it.each(both_arms)("%s ends within the grace when aborted, with one error event", async (arm) => {
    const session = await ArmSession.open(browser, server.origin);
    expect(await session.prepare(armConfig(arm, { steps: 10_000 }))).toBe(true);
    const measuring = session.measure();
    await session.waitFor((event) => event.event === "steps");
    const asked = Date.now();
    await session.abort();
    expect(await measuring).toBe(false);
    expect(Date.now() - asked).toBeLessThan(4_000);
    expect(session.all("error")).toMatchObject([{ code: "aborted", phase: "measure" }]);
    await session.close();
  });

  it("sends its steps at most every 250 ms", async () => {
    const session = await ArmSession.open(browser, server.origin);
    expect(await session.prepare(armConfig("wasm-simd-mt", { steps: 300, warmup: 0 }))).toBe(true);
    expect(await session.measure()).toBe(true);
    const batches = session.all("steps");
    const wall_ms = batches.flatMap((batch) => batch.wall_ms).reduce((sum, value) => sum + value, 0);
    expect(batches.length).toBeLessThanOrEqual(Math.ceil(wall_ms / 250) + 2);
    expect(batches.map((batch) => batch.first)).toEqual(
      batches.map((_, index) => batches.slice(0, index).reduce((sum, batch) => sum + batch.loss.length, 0)),
    );
    await session.close();
  });

  it("says out of memory, or refuses, for a model that cannot fit", async () => {
    const session = await ArmSession.open(browser, server.origin);
    const model = { layers: 24, d_model: 1280, ctx: 512, batch: 1, heads: 20 };
    expect(await session.prepare(armConfig("wasm-simd-mt", { model }))).toBe(false);
    expect(session.all("error")).toEqual([expect.objectContaining({ code: "out-of-memory" })]);
    await session.close();
  });
});
