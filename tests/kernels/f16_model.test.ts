// What the half-precision arm's storage does to loss and gradients, in double precision with those numbers rounded to f16:
// a bound that needs no adapter with shader-f16. tests/kernels/f16_check.py checks the arm itself where there is one.

import { describe, expect, it } from "vitest";
import { layOutParameters } from "../../trainer_wasm/web/webgpu/parameter_layout";
import { modelGradients } from "./model_reference";
import { numbers, tokens } from "./support/inputs";

/** The nearest binary16 number, ties to even; 65504 is the largest. */
function toHalf(value: number): number {
  if (value === 0) return 0;
  const unit = 2 ** (Math.max(-14, Math.floor(Math.log2(Math.abs(value)))) - 10);
  const units = value / unit;
  const down = Math.floor(units);
  const up_by = units - down;
  const nearest = up_by > 0.5 || (up_by === 0.5 && down % 2 !== 0) ? down + 1 : down;
  return Math.abs(nearest * unit) > 65504 ? Math.sign(value) * Infinity : nearest * unit;
}

describe("the rounding to half precision", () => {
  it("gives the neighbours that IEEE 754 names", () => {
    expect(toHalf(1 / 3)).toBe(0.333251953125);
    expect(toHalf(2049)).toBe(2048);
    expect(toHalf(2051)).toBe(2052);
    expect(toHalf(2 ** -24)).toBe(2 ** -24);
    expect(toHalf(2 ** -26)).toBe(0);
    expect(toHalf(-65504)).toBe(-65504);
    expect(toHalf(70000)).toBe(Infinity);
  });
});

describe("a model that keeps its forward operands in half precision", () => {
  it("has the loss of the exact one within 0.1 % and its gradient within 1 %", () => {
    const tiny = { layers: 2, d_model: 48, ctx: 32, batch: 4, heads: 3 };
    const layout = layOutParameters(tiny);
    const parameters = numbers(layout.source_size, 7, 0.1);
    const gains = [...layout.layers.flatMap((layer) => [layer.first_norm_gain, layer.second_norm_gain]), layout.last_norm_gain];
    for (const { source, size } of gains) for (let i = 0; i < size; i += 1) parameters[source + i]! += 1;
    const count = tiny.batch * tiny.ctx;
    const [given, targets] = [tokens(count, 1), tokens(count, 11)];
    const exact = modelGradients(tiny, parameters, given, targets);
    const half = modelGradients(tiny, parameters, given, targets, (values) => values.map(toHalf));
    expect(Math.abs(half.loss - exact.loss) / exact.loss).toBeLessThan(1e-3);
    const norm = (values: Float64Array) => Math.sqrt(values.reduce((sum, v) => sum + v * v, 0));
    const difference = norm(half.gradients.map((v, i) => v - exact.gradients[i]!)) / norm(exact.gradients);
    expect(difference).toBeLessThan(1e-2);
    // The rounding is there: a difference of nothing would mean that it was not asked for.
    expect(difference).toBeGreaterThan(1e-6);
  }, 120_000);
});
