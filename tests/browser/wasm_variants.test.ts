// Every WebAssembly build of the trainer in a real browser: one source, so one training, whatever the instructions.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Browser } from "playwright-core";
import { ArmSession, armConfig, runArm, servedTree, smoke, type ArmRun } from "./support/arm_session";
import { launchChromium } from "./support/chromium";
import { serveFolders, type StaticServer } from "./support/static_server";

const variants = ["wasm-scalar", "wasm-simd", "wasm-simd-mt", "wasm-relaxed-mt", "wasm64-simd-mt", "wasm64-relaxed-mt"] as const;

/** What the native build makes of seed 42 and the built-in corpus (tests/unit/trainer/inputs.test.cpp). */
const native_weights_sha256 = "57b49847328154e83a3cb5dae0a23b8ee5ea5eda3901c95c72777fc9d1923d24";
const native_five_batches_sha256 = "fe301167e3cfb5919aad0ed406cba755b3875fc178048dd43b11b57682f41e8d";

let server: StaticServer;
let browser: Browser;
const runs = new Map<string, ArmRun>();

beforeAll(async () => {
  server = await serveFolders({ "/": servedTree(true) });
  browser = await launchChromium({ webgpu: false });
  for (const variant of variants) runs.set(variant, await runArm(browser, server.origin, armConfig(variant, { steps: 5 })));
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

describe.each(variants)("%s", (variant) => {
  it("makes the native build's weights and batches, bit for bit", () => {
    const { prepared } = runs.get(variant)!;
    expect(prepared.weights_sha256).toBe(native_weights_sha256);
    expect(prepared.batches_sha256).toBe(native_five_batches_sha256);
  });

  it("trains as the baseline does, to rounding", () => {
    const baseline = runs.get("wasm-simd-mt")!.losses;
    runs.get(variant)!.losses.forEach((loss, step) => expect(Math.abs(loss / baseline[step]! - 1)).toBeLessThan(2e-6));
  });

  it("repeats bit for bit", async () => {
    const again = await runArm(browser, server.origin, armConfig(variant, { steps: 5, warmup: 2 }));
    expect(again.losses).toEqual(runs.get(variant)!.losses);
  });
});

describe("threads", () => {
  it.each([1, 3])("%i give the same losses as two", async (threads) => {
    const run = await runArm(browser, server.origin, armConfig("wasm-relaxed-mt", { steps: 5, threads }));
    expect(run.prepared.threads).toBe(threads);
    expect(run.losses).toEqual(runs.get("wasm-relaxed-mt")!.losses);
  });

  it("stay at one in the builds that have none", () => {
    expect(runs.get("wasm-scalar")!.prepared.threads).toBe(1);
    expect(runs.get("wasm-simd")!.prepared.threads).toBe(1);
    expect(runs.get("wasm-simd-mt")!.prepared.threads).toBe(2);
  });
});

describe("what a build says of itself", () => {
  it("names the instructions, the pointers, and whether a relaxed multiply-add is fused here", () => {
    expect(runs.get("wasm-scalar")!.prepared.variant).toMatchObject({ simd: "scalar", madd_fused: false, pointer_bits: 32 });
    expect(runs.get("wasm-simd-mt")!.prepared.variant).toMatchObject({ simd: "wasm-simd", madd_fused: false });
    expect(runs.get("wasm-relaxed-mt")!.prepared.variant["simd"]).toBe("wasm-relaxed-simd");
    expect(typeof runs.get("wasm-relaxed-mt")!.prepared.variant["madd_fused"]).toBe("boolean");
    expect(runs.get("wasm64-simd-mt")!.prepared.variant).toMatchObject({ pointer_bits: 64 });
  });
});

describe("a model that cannot fit", () => {
  it("is refused before it starts, with the bytes that it needs", async () => {
    const behemoth = { layers: 24, d_model: 1280, ctx: 512, batch: 1, heads: 20 };
    const session = await ArmSession.open(browser, server.origin);
    expect(await session.prepare(armConfig("wasm-simd-mt", { model: behemoth }))).toBe(false);
    const [error] = session.all("error");
    expect(error).toMatchObject({ code: "out-of-memory" });
    const needed = Number(/needs (\d+) bytes/.exec(error!.message)?.[1]);
    expect(needed).toBeGreaterThan(4 * 2 ** 30);
    expect(error!.message).toContain("32-bit WebAssembly addresses 4 GiB at most");
    await session.close();
  });

  it("is refused by a 64-bit build too, however far past its addresses it lies", async () => {
    const session = await ArmSession.open(browser, server.origin);
    const vast = { layers: 96, d_model: 4096, ctx: 1024, batch: 8, heads: 32 };
    expect(await session.prepare(armConfig("wasm64-simd-mt", { model: vast }))).toBe(false);
    const [error] = session.all("error");
    expect(error).toMatchObject({ code: "out-of-memory" });
    expect(Number(/needs (\d+) bytes/.exec(error!.message)?.[1])).toBeGreaterThan(16 * 2 ** 30);
    expect(error!.message).toContain("16 GiB");
    await session.close();
  });

  it("names the fault of a shape that no build can make", async () => {
    const session = await ArmSession.open(browser, server.origin);
    expect(await session.prepare(armConfig("wasm-simd-mt", { model: { ...smoke, heads: 3 } }))).toBe(false);
    expect(session.all("error")[0]!.message).toContain("heads (3) does not divide d_model (32)");
    await session.close();
  });
});
