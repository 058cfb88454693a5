import { describe, expect, it } from "vitest";
import { modelGradients } from "../../../tests/kernels/model_reference";
import type { ModelShape } from "../arm";
import { layOutParameters } from "../webgpu/parameter_layout";
import { Sampler, sampleText } from "./sampler";

const shape: ModelShape = { layers: 2, d_model: 12, ctx: 8, batch: 1, heads: 3 };

function weights(): Float32Array {
  let state = 12345;
  return Float32Array.from({ length: layOutParameters(shape).source_size }, () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state / 4294967296 - 0.5) * 0.4;
  });
}

describe("the sampler", () => {
  it("has the mean loss of the double-precision model on the same tokens", () => {
    const flat = weights();
    const tokens = [72, 101, 108, 108, 111, 32, 119, 111];
    const targets = [101, 108, 108, 111, 32, 119, 111, 114];
    const sampler = new Sampler(shape, flat);
    const loss =
      tokens.reduce((sum, token, index) => {
        const logits = sampler.next(token);
        const highest = Math.max(...logits);
        const partition = logits.reduce((total, value) => total + Math.exp(value - highest), 0);
        return sum + highest + Math.log(partition) - logits[targets[index]!]!;
      }, 0) / tokens.length;
    expect(loss).toBeCloseTo(modelGradients(shape, flat, tokens, targets).loss, 5);
  });

  it("writes past its window, the same text for the same numbers", async () => {
    const write = (): Promise<string> => {
      let state = 1;
      const random = (): number => (state = (state * 16807) % 2147483647) / 2147483647;
      return sampleText(new Sampler(shape, weights()), shape, { length: 40, prompt: "a", temperature: 0.8, random, pause: () => Promise.resolve() });
    };
    const first = await write();
    expect(first.length).toBeGreaterThan(8);
    expect(await write()).toBe(first);
  });

  it("refuses parameters of another model and a full window", () => {
    expect(() => new Sampler(shape, new Float32Array(7))).toThrow(RangeError);
    const sampler = new Sampler(shape, weights());
    for (let index = 0; index < shape.ctx; index += 1) sampler.next(1);
    expect(() => sampler.next(1)).toThrow(RangeError);
  });
});
