// The trainer made ready in a dedicated worker, as the arm itself does it, and one warm step of `tiny` timed.

import { loadTrainer, type TrainerVariant } from "../../../trainer_wasm/web/trainer_module";
import { shapeOf } from "../model_work";

const warm_steps = 2;

const trainer = await loadTrainer({
  variant: (new URLSearchParams(self.name).get("variant") ?? "wasm-simd") as TrainerVariant,
  shape: shapeOf("tiny"),
  threads: 1,
  seed: 42n,
  mode: "train",
  corpus: "builtin",
  baseUrl: new URL("/wasm/", self.location.href),
});
for (let step = 0; step < warm_steps; step += 1) trainer.step();
const started = performance.now();
trainer.step();
self.postMessage(performance.now() - started);

export {};
