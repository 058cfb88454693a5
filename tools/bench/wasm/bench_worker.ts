// The measurements of tools/bench/wasm.sh, one task a run, in a dedicated worker as the arm itself.

import { loadTrainer, type TrainerModule, type TrainerVariant } from "../../../trainer_wasm/web/trainer_module";
import { flopsPerStep, shapeOf } from "../model_work";

const query = new URLSearchParams(self.name);
const text = (name: string, otherwise: string) => query.get(name) ?? otherwise;
const number = (name: string, otherwise: number) => Number(query.get(name) ?? otherwise);

function load(variant: TrainerVariant, preset: string, threads: number): Promise<TrainerModule> {
  return loadTrainer({
    variant,
    shape: shapeOf(preset),
    threads,
    seed: 42n,
    mode: "train",
    corpus: "builtin",
    baseUrl: new URL("/wasm/", self.location.href),
  });
}

/** The best of several rounds: the machine's own speed, with other work on it left out. */
function best(rounds: number, measure: () => number): number {
  let least = Infinity;
  for (let round = 0; round < rounds; round += 1) least = Math.min(least, measure());
  return least;
}

/** GFLOP/s of one thread by product, packing included, and the multiply-add peak on registers. */
async function gemm() {
  const variant = text("variant", "wasm-simd-mt") as TrainerVariant;
  const trainer = await load(variant, "smoke", 1);
  const shapes = text("shapes", "1536x192x768,1536x768x192,1536x576x192,192x768x1536,1024x96x384,1024x384x96,512x512x512")
    .split(",")
    .map((shape) => shape.split("x").map(Number) as [number, number, number]);
  trainer.benchGemm(256, 256, 256, 20);
  const gflops: Record<string, number> = {};
  for (const [m, n, k] of shapes) {
    const repeats = Math.max(1, Math.round(4e8 / (2 * m * n * k)));
    gflops[`${m}x${n}x${k}`] = (2 * m * n * k) / 1e6 / best(number("rounds", 12), () => trainer.benchGemm(m, n, k, repeats));
  }
  const peak = -best(6, () => -trainer.benchPeak(20));
  const facts = trainer.buildFacts();
  trainer.dispose();
  return { variant, peak_gflops: peak, gflops, facts };
}

/** ms a step: median, least and the tenth; losses; where the time of a median step goes. */
async function steps() {
  const variant = text("variant", "wasm-simd-mt") as TrainerVariant;
  const preset = text("preset", "large");
  const trainer = await load(variant, preset, number("threads", navigator.hardwareConcurrency));
  for (let index = 0; index < number("warmup", 3); index += 1) trainer.step();
  trainer.reset();
  const milliseconds: number[] = [];
  const losses: number[] = [];
  for (let index = 0; index < number("steps", 20); index += 1) {
    const started = performance.now();
    losses.push(trainer.step());
    milliseconds.push(performance.now() - started);
  }
  trainer.enableProfile(true);
  // A step under profile costs a few clock reads more; the least of several is the breakdown shown.
  let breakdown: Record<string, number> = {};
  let least = Infinity;
  for (let index = 0; index < Math.min(5, milliseconds.length); index += 1) {
    trainer.step();
    const profile = trainer.profile();
    const total = profile.reduce((sum, entry) => sum + entry.milliseconds, 0);
    if (total < least) {
      least = total;
      breakdown = Object.fromEntries(profile.map((entry) => [entry.name, entry.milliseconds]));
    }
  }
  const sorted = [...milliseconds].sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)]!;
  const result = {
    variant,
    preset,
    threads: trainer.threads,
    median_ms: median,
    least_ms: sorted[0]!,
    gflops: flopsPerStep(shapeOf(preset)) / 1e6 / median,
    first_loss: losses[0]!,
    last_loss: losses.at(-1)!,
    cold_start: trainer.coldStart,
    memory_bytes: trainer.memoryByteLength,
    breakdown,
    facts: trainer.buildFacts(),
  };
  trainer.dispose();
  return result;
}

const tasks: Record<string, () => Promise<object>> = { gemm, steps };

async function main(): Promise<void> {
  const task = text("task", "steps");
  try {
    const run = tasks[task];
    if (run === undefined) throw new Error(`unknown task ${task}; known: ${Object.keys(tasks).join(", ")}`);
    self.postMessage({ ok: true, task, ...(await run()) });
  } catch (thrown) {
    const error = thrown instanceof Error ? `${thrown.name}: ${thrown.message}\n${thrown.stack ?? ""}` : String(thrown);
    self.postMessage({ ok: false, task, error });
  }
}

void main();
