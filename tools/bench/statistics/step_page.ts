// One sample for a bench that reloads the page for each: the trainer made ready, and one warm step of `tiny` timed.

import { loadTrainer, type TrainerVariant } from "../../../trainer_wasm/web/trainer_module";

const tiny = { layers: 2, d_model: 48, ctx: 32, batch: 16, heads: 3 };
const warm_steps = 2;

declare global {
  interface Window {
    /** What tachometer reads: milliseconds. */
    tachometerResult?: number;
  }
}

async function timeOneStep(variant: TrainerVariant): Promise<number> {
  const trainer = await loadTrainer({
    variant,
    shape: tiny,
    threads: 1,
    seed: 42n,
    mode: "train",
    corpus: "builtin",
    baseUrl: new URL("wasm/", location.href),
  });
  for (let step = 0; step < warm_steps; step += 1) trainer.step();
  const started = performance.now();
  trainer.step();
  return performance.now() - started;
}

const variant = (new URLSearchParams(location.search).get("variant") ?? "wasm-simd") as TrainerVariant;
window.tachometerResult = await timeOneStep(variant);
