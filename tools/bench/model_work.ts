// The shape of a preset and the work of its training step, for the benches.

import type { ModelShape } from "../../trainer_wasm/web/arm";
import { presets } from "../../trainer_wasm/web/presets";

/** @throws Error for a preset that does not exist */
export function shapeOf(preset: string): ModelShape {
  const shape = presets[preset];
  if (shape === undefined) throw new Error(`unknown preset ${preset}; presets: ${Object.keys(presets).join(", ")}`);
  return shape;
}

/** Floating-point operations of a step: forward and backward products of the matrices and of causal attention. */
export function flopsPerStep({ layers, d_model, ctx, batch }: ModelShape): number {
  const rows = batch * ctx;
  return 6 * rows * (12 * layers * d_model ** 2 + 256 * d_model) + 6 * layers * rows * d_model * (ctx + 1);
}
