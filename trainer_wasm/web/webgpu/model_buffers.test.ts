import { describe, expect, it } from "vitest";
import { bufferSizes, bytesOf, planModel } from "./model_buffers";

const tiny = { layers: 2, d_model: 48, ctx: 32, batch: 16, heads: 3 };

describe("the buffers of the half-precision arm", () => {
  const plan = planModel(tiny, true);

  it("let every tensor and every layer be bound, at 256 bytes of f16 as of f32", () => {
    for (const { offset } of plan.layout.tensors) expect((2 * offset) % 256).toBe(0);
    for (const width of [48, 144, 192]) expect((2 * plan.row_stride(width)) % 256).toBe(0);
  });

  it("halve what the forward products read and nothing else", () => {
    const halved = Object.keys(bufferSizes(plan, false)).filter((name) => bytesOf(name, plan.half) === 2);
    expect(halved.sort()).toEqual(["activated", "attention", "expanded", "half_parameters", "normalised", "qkv"]);
    expect(Object.keys(bufferSizes(plan, false)).every((name) => bytesOf(name, false) === 4)).toBe(true);
  });

  it("leave the single-precision arm's layout as it was", () => {
    const single = planModel(tiny);
    expect(single.layout.tensors.every(({ offset }) => offset % 64 === 0)).toBe(true);
    expect(single.layout.size).toBeLessThan(plan.layout.size);
    expect(bufferSizes(single, false).half_parameters).toBe(64);
  });
});
