// The whole WebGPU arm against the double-precision model, in real Chromium.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ArmConfig, ModelShape } from "../../trainer_wasm/web/arm";
import { layOutParameters } from "../../trainer_wasm/web/webgpu/parameter_layout";
import { largestTensorError, modelGradients } from "./model_reference";
import { numbers, tokens } from "./support/inputs";
import type { GivenInputs } from "./support/kernel_page";
import { KernelSession } from "./support/session";

const smoke: ModelShape = { layers: 1, d_model: 32, ctx: 16, batch: 2, heads: 2 };
const tiny: ModelShape = { layers: 2, d_model: 48, ctx: 32, batch: 16, heads: 3 };
const odd: ModelShape = { layers: 2, d_model: 30, ctx: 13, batch: 3, heads: 3 };
const ragged: ModelShape = { layers: 1, d_model: 36, ctx: 19, batch: 3, heads: 3 };

function config(model: ModelShape, options: ArmConfig["options"] = {}): ArmConfig {
  return { schema: "assay.arm-config/1.0", arm: "webgpu", model, steps: 3, warmup: 0, seed: "1", threads: 1, corpus: { name: "builtin" }, options };
}

function inputsFor(shape: ModelShape): GivenInputs {
  const layout = layOutParameters(shape);
  const parameters = numbers(layout.source_size, 7, 0.1);
  for (const places of [...layout.layers.flatMap((layer) => [layer.first_norm_gain, layer.second_norm_gain]), layout.last_norm_gain]) {
    for (let i = 0; i < places.size; i += 1) parameters[places.source + i]! += 1;
  }
  const count = shape.batch * shape.ctx;
  return {
    parameters: parameters.map(Math.fround),
    batches: [1, 2, 3].map((seed) => ({ tokens: tokens(count, seed), targets: tokens(count, seed + 10) })),
  };
}

let session: KernelSession;
beforeAll(async () => {
  session = await KernelSession.open();
});
afterAll(() => session?.close());

describe("the WebGPU arm", () => {
  for (const [name, shape, tuning] of [
    ["smoke", smoke, {}],
    ["tiny", tiny, {}],
    ["a width that is no multiple of 4", odd, { kernels: "fast" }],
    ["tokens that fill no tile, fast kernels", ragged, { kernels: "fast" }],
  ] as const) {
    it(`has the gradients of the double-precision model: ${name}`, async () => {
      const inputs = inputsFor(shape);
      await session.call("prepareArm", config(shape), inputs, tuning);
      const got = await session.call("gradients", 1);
      const batch = inputs.batches[1]!;
      const wanted = modelGradients(shape, inputs.parameters, batch.tokens, batch.targets);
      expect(Math.abs(got.loss - wanted.loss) / wanted.loss).toBeLessThan(1e-5);
      expect(largestTensorError(shape, got.gradients, wanted.gradients)).toBeLessThan(1e-4);
    }, 400_000);
  }

  it("keeps forward operands in half precision where the adapter has shader-f16, and says that it cannot where it has not", async () => {
    const inputs = inputsFor(tiny);
    const asked = { ...config(tiny), arm: "webgpu-f16" };
    const adapter = await session.call("adapter");
    if (!adapter.features.includes("shader-f16")) {
      await expect(session.call("prepareArm", asked, inputs)).rejects.toThrow("this arm needs the GPU feature shader-f16, which the adapter lacks");
      return;
    }
    await session.call("prepareArm", asked, inputs);
    const got = await session.call("gradients", 1);
    const batch = inputs.batches[1]!;
    const wanted = modelGradients(tiny, inputs.parameters, batch.tokens, batch.targets);
    expect(Math.abs(got.loss - wanted.loss) / wanted.loss).toBeLessThan(1e-3);
    expect(largestTensorError(tiny, got.gradients, wanted.gradients)).toBeLessThan(0.05);
  });

  it("gives bit-identical losses after a reset, with either wait and when pipelined", async () => {
    const inputs = inputsFor(smoke);
    await session.call("prepareArm", config(smoke), inputs);
    const first = await session.call("steps", 6);
    await session.call("reset");
    const again = await session.call("pipelined", 6);
    expect(again.losses).toEqual(first.losses);
    await session.call("prepareArm", config(smoke, { wait: "map" }), inputs);
    expect((await session.call("steps", 6)).losses).toEqual(first.losses);
  });

  it("states the GPU time of every step since the reset, and how finely the GPU's clock advances", async () => {
    const prepared = await session.call("prepareArm", config(smoke), inputsFor(smoke));
    // The adapter of these tests, SwiftShader, has timestamp-query.
    expect(prepared.gpu_timestamp_quantum_ns).toBeGreaterThan(0);
    await session.call("steps", 4);
    await session.call("reset");
    const { milliseconds } = await session.call("steps", 3);
    const times = await session.call("gpuTimes", 3);
    const quantum_ms = prepared.gpu_timestamp_quantum_ns! / 1e6;
    expect(times).toHaveLength(3);
    times!.forEach((time, index) => {
      expect(time).toBeGreaterThanOrEqual(0);
      expect(time).toBeLessThan(milliseconds[index]! + 2 * quantum_ms);
    });
    expect(Math.max(...times!)).toBeGreaterThan(0);
  });

  it("learns: the mean loss of later steps is lower than that of the first ones", async () => {
    await session.call("prepareArm", config(smoke), inputsFor(smoke));
    const { losses } = await session.call("steps", 60);
    const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(mean(losses.slice(-20))).toBeLessThan(mean(losses.slice(0, 20)));
  });

  it("runs a smoke step in under a second on the software adapter", async () => {
    await session.call("prepareArm", config(smoke), inputsFor(smoke));
    const { milliseconds } = await session.call("steps", 5);
    expect(milliseconds.sort((a, b) => a - b)[2]).toBeLessThan(1000);
  });

  it("measures a longer step when only the optimiser is slowed, with the same losses", async () => {
    const inputs = inputsFor(tiny);
    const median = (times: number[]) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)]!;
    await session.call("prepareArm", config(tiny), inputs);
    const plain = await session.call("steps", 3);
    await session.call("prepareArm", config(tiny, { repeat_optimizer: 400 }), inputs);
    const slowed = await session.call("steps", 3);
    expect(slowed.losses).toEqual(plain.losses);
    expect(median(slowed.milliseconds)).toBeGreaterThan(1.5 * median(plain.milliseconds));
  });
});
