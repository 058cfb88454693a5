// The measurements of tools/bench/webgpu.sh, one task a run, in a dedicated worker as the arm itself.

import type { ArmConfig } from "../../../trainer_wasm/web/arm";
import { DispatchTimer, tuneTiles } from "../../../trainer_wasm/web/webgpu/autotune";
import { tileConstants, tileName, tilesWithin, workgroupsOf } from "../../../trainer_wasm/web/webgpu/gemm_choice";
import { GpuDevice, workgroupLimits } from "../../../trainer_wasm/web/webgpu/gpu_device";
import { KernelLibrary } from "../../../trainer_wasm/web/webgpu/kernel_library";
import { bufferSizes, createBuffers, largestBufferBytes, planModel } from "../../../trainer_wasm/web/webgpu/model_buffers";
import { layOutParameters } from "../../../trainer_wasm/web/webgpu/parameter_layout";
import type { Wait } from "../../../trainer_wasm/web/webgpu/step_submission";
import { makeTrainingPlan, type Dispatch } from "../../../trainer_wasm/web/webgpu/training_plan";
import { WasmArm } from "../../../trainer_wasm/web/wasm_arm";
import { WebGpuArm, type WebGpuTuning } from "../../../trainer_wasm/web/webgpu_arm";
import { flopsPerStep, shapeOf } from "../model_work";

const query = new URLSearchParams(self.name);
const text = (name: string, otherwise: string) => query.get(name) ?? otherwise;
const number = (name: string, otherwise: number) => Number(query.get(name) ?? otherwise);
/** The WebGPU arm to measure: webgpu or webgpu-f16. */
const gpu_arm_name = text("arm", "webgpu");
const base_url = new URL("/", self.location.href).href;

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}

function config(arm: string, preset: string, options: ArmConfig["options"], threads = 1): ArmConfig {
  return {
    schema: "assay.arm-config/1.0",
    arm,
    model: shapeOf(preset),
    steps: 20,
    warmup: 5,
    seed: "42",
    threads,
    corpus: { name: "builtin" },
    ...(options === undefined ? {} : { options }),
  };
}

async function timedSteps(arm: WebGpuArm, count: number) {
  const milliseconds: number[] = [];
  const losses: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const started = performance.now();
    const result = await arm.step();
    milliseconds.push(performance.now() - started);
    losses.push(result.loss);
  }
  return { milliseconds, losses };
}

/** ms a step of one preset: serial with both waits, pipelined, and whether repeats agree to the last bit. */
async function steps() {
  const preset = text("preset", "small");
  const count = number("steps", 60);
  const results: Record<string, unknown> = {};
  let reference_losses: number[] | undefined;
  const variants = text("variants", "kept-awake,map,no-timestamps").split(",");
  for (const variant of variants) {
    const wait: Wait = variant === "map" ? "map" : "kept-awake";
    const tuning: WebGpuTuning = { no_timestamps: variant === "no-timestamps" };
    const parts = variant.match(/^submissions-(\d+)$/);
    if (parts) tuning.flops_per_submission = flopsPerStep(shapeOf(preset)) / Number(parts[1]);
    if (variant === "no-subgroups") tuning.no_subgroups = true;
    const arm = new WebGpuArm(base_url, tuning);
    const prepared = await arm.prepare({ ...config(gpu_arm_name, preset, { wait, autotune: variant === "autotune" }), steps: count });
    await timedSteps(arm, 10);
    await arm.reset();
    const { milliseconds, losses } = await timedSteps(arm, count);
    const gpu_ms = (await arm.gpuTimes(count)) ?? [];
    reference_losses ??= losses;
    await arm.reset();
    const pipelined = await arm.pipelined(count);
    const sorted = [...milliseconds].sort((a, b) => a - b);
    results[variant] = {
      median_ms: median(milliseconds),
      tenth_ms: sorted[Math.floor(count / 10)],
      ninetieth_ms: sorted[Math.floor((9 * count) / 10)],
      pipelined_ms: pipelined.step_ms,
      tflops: flopsPerStep(shapeOf(preset)) / median(milliseconds) / 1e9,
      dispatches: prepared.dispatches_per_step,
      cold_start: prepared.cold_start,
      first_loss: losses[0],
      last_loss: losses.at(-1),
      same_losses: losses.every((loss, index) => loss === reference_losses![index]),
      pipelined_same_losses: pipelined.losses.every((loss, index) => loss === reference_losses![index]),
      variant: prepared.variant,
      ...(gpu_ms.length > 0 ? { gpu_ms: median(gpu_ms), gpu_samples: gpu_ms.slice(0, 8) } : {}),
    };
    arm.dispose();
  }
  return { preset, arm: gpu_arm_name, results };
}

async function openModel(preset: string) {
  const plan = planModel(shapeOf(preset), gpu_arm_name === "webgpu-f16");
  const sizes = bufferSizes(plan, false);
  const adapter = await GpuDevice.requestAdapter();
  const workgroup = workgroupLimits(adapter);
  const gpu = await GpuDevice.open(adapter, {
    largest_buffer_bytes: largestBufferBytes(sizes),
    workgroup,
    features: plan.half ? ["shader-f16"] : [],
    optional_features: ["subgroups" as GPUFeatureName],
  });
  const library = await KernelLibrary.open(gpu.device, new URL("shaders/", base_url));
  const buffers = await createBuffers(gpu, sizes, plan.half);
  const options = { subgroups: gpu.device.features.has("subgroups"), workgroup, naive: false };
  return { plan, gpu, library, buffers, options };
}

/** Microseconds of every operation of a step, by kind. */
async function operations() {
  const preset = text("preset", "small");
  const { plan, gpu, library, buffers, options } = await openModel(preset);
  const training = await makeTrainingPlan(gpu.device, library, buffers, plan, options);
  const timer = new DispatchTimer(gpu);
  const table: { operation: string; count: number; us: number; tflops?: number }[] = [];
  const kinds = new Map<string, Dispatch[]>();
  for (const dispatch of [...training.gradients, ...training.update]) {
    const kind = dispatch.label.replace(/ \d+/, "");
    kinds.set(kind, [...(kinds.get(kind) ?? []), dispatch]);
  }
  for (const [operation, dispatches] of kinds) {
    const us = await timer.microseconds(dispatches[0]!);
    table.push({ operation, count: dispatches.length, us, ...(dispatches[0]!.flops > 0 ? { tflops: dispatches[0]!.flops / us / 1e6 } : {}) });
  }
  const sum_us = table.reduce((sum, row) => sum + row.us * row.count, 0);
  const whole = [...training.gradients, ...training.update];
  const once_ms = ((await timer.total(whole, 6)) - (await timer.total(whole, 1))) / 5;
  gpu.close();
  return { preset, arm: gpu_arm_name, sum_us, replayed_step_ms: once_ms, tiles: training.tiles, table };
}

/** Microseconds of every matrix product with every tile. */
async function tiles() {
  const preset = text("preset", "small");
  const { plan, gpu, library, buffers, options } = await openModel(preset);
  const tuning = await tuneTiles(gpu, library, buffers, plan, options);
  const table: Record<string, Record<string, number>> = {};
  for (const { product, tile, microseconds } of tuning.measurements) (table[product] ??= {})[tile] = Math.round(microseconds * 10) / 10;
  gpu.close();
  return { preset, arm: gpu_arm_name, table };
}

/** Microseconds of the attention kernels with several tiles. */
async function attention() {
  const preset = text("preset", "small");
  const { plan, gpu, library, buffers, options } = await openModel(preset);
  const head_size = plan.shape.d_model / plan.shape.heads;
  const timer = new DispatchTimer(gpu);
  const table: Record<string, Record<string, number>> = { forward: {}, backward: {} };
  for (const [ROWS, SPLITS] of [[32, 4], [32, 8], [32, 2], [16, 4], [16, 8], [16, 16], [8, 16], [8, 8], [64, 4], [64, 2]] as const) {
    if (2 * ROWS * SPLITS * head_size + 12 * ROWS * SPLITS > 32_768 || ROWS * SPLITS > 256) continue;
    const tile = { ROWS, SPLITS };
    const training = await makeTrainingPlan(gpu.device, library, buffers, plan, { ...options, attention_forward: tile, attention_backward: tile });
    const time = (label: string) => timer.microseconds(training.gradients.find((dispatch) => dispatch.label === label)!);
    table["forward"]![`${ROWS}/${SPLITS}`] = Math.round(10 * (await time("attention 0"))) / 10;
    table["backward"]![`${ROWS}/${SPLITS}`] = Math.round(10 * (await time("attention 0 backward"))) / 10;
  }
  gpu.close();
  return { preset, arm: gpu_arm_name, table };
}

/** TFLOP/s of square f32 products by size and tile. */
async function gemm() {
  const sizes = text("sizes", "512,1024,2048,4096").split(",").map(Number);
  const adapter = await GpuDevice.requestAdapter();
  const largest = Math.max(...sizes);
  const workgroup = workgroupLimits(adapter);
  const gpu = await GpuDevice.open(adapter, {
    largest_buffer_bytes: 4 * largest * largest,
    workgroup,
    features: [],
    optional_features: [],
  });
  const library = await KernelLibrary.open(gpu.device, new URL("shaders/", base_url));
  const make = (count: number) =>
    gpu.device.createBuffer({ size: 4 * count, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC });
  const [a, b, c, small, unused] = [make(largest ** 2), make(largest ** 2), make(largest ** 2), make(64 * 1024), make(64)] as const;
  const random = Float32Array.from({ length: largest ** 2 }, () => Math.random() - 0.5);
  gpu.device.queue.writeBuffer(a, 0, random);
  gpu.device.queue.writeBuffer(b, 0, random);
  const timer = new DispatchTimer(gpu);
  const table: Record<string, Record<string, number>> = {};
  for (const trans of text("trans", "nn").split(",")) {
    for (const size of sizes) {
      for (const tile of tilesWithin(workgroup)) {
        const overrides = {
          M: size, N: size, K: size, TRANS_A: trans[0] === "t", TRANS_B: trans[1] === "t", ...tileConstants(tile),
        };
        const pipeline = await library.pipeline(tile.kernel, overrides);
        const bind_group = gpu.device.createBindGroup({
          layout: await library.bindGroupLayout(tile.kernel),
          entries: [a, b, small, small, c, unused].map((buffer, binding) => ({ binding, resource: { buffer } })),
        });
        const flops = 2 * size ** 3;
        const dispatch = { label: "gemm", pipeline, bind_group, x: workgroupsOf(tile, { m: size, n: size, k: size, copies: 1 }), y: 1, flops };
        const many = size >= 4096 ? 6 : size >= 2048 ? 16 : 60;
        const us = await timer.microseconds(dispatch, Math.floor(many / 4), many);
        (table[`${trans} ${size}`] ??= {})[tileName(tile)] = Math.round((flops / us / 1e6) * 100) / 100;
      }
    }
  }
  gpu.close();
  return { table };
}

/** Paired losses of the WebGPU arm and a WebAssembly arm from identical inputs. */
async function drift() {
  const preset = text("preset", "small");
  const count = number("steps", 20);
  const gpu_arm = new WebGpuArm(base_url);
  const gpu_prepared = await gpu_arm.prepare(config(gpu_arm_name, preset, {}));
  const { losses } = await timedSteps(gpu_arm, count);
  gpu_arm.dispose();
  const wasm_name = text("wasm", "wasm-simd-mt");
  const wasm_arm = new WasmArm(base_url);
  const wasm_prepared = await wasm_arm.prepare(config(wasm_name, preset, {}, number("threads", 8)));
  const wasm_losses: number[] = [];
  const wasm_ms: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const started = performance.now();
    wasm_losses.push(wasm_arm.step().loss);
    wasm_ms.push(performance.now() - started);
  }
  wasm_arm.dispose();
  return {
    preset,
    arm: gpu_arm_name,
    same_inputs: gpu_prepared.weights_sha256 === wasm_prepared.weights_sha256 && gpu_prepared.batches_sha256 === wasm_prepared.batches_sha256,
    largest_drift: Math.max(...losses.map((loss, index) => Math.abs(loss - wasm_losses[index]!) / wasm_losses[index]!)),
    wasm_median_ms: median(wasm_ms),
    losses,
    wasm_losses,
  };
}

/** Gradients of the first batch, tensor by tensor, against a WebAssembly arm's: |g - r| / max(|r|, 1e-6 |all of r|). */
async function gradients() {
  const preset = text("preset", "small");
  const gpu_arm = new WebGpuArm(base_url, { kernels: text("kernels", "fast") as "fast" | "plain" });
  await gpu_arm.prepare(config(gpu_arm_name, preset, {}));
  const got = await gpu_arm.readGradients(0);
  gpu_arm.dispose();
  const wasm_arm = new WasmArm(base_url);
  await wasm_arm.prepare(config(text("wasm", "wasm-simd-mt"), preset, {}, number("threads", 8)));
  const wanted = await wasm_arm.readGradients(0);
  wasm_arm.dispose();
  const norm = (values: Float32Array) => Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
  const smallest = 1e-6 * norm(wanted.gradients);
  const layout = layOutParameters(shapeOf(preset));
  const errors = layout.tensors.map(({ source, size }) => {
    const reference = wanted.gradients.subarray(source, source + size);
    const difference = got.gradients.subarray(source, source + size).map((value, index) => value - reference[index]!);
    return norm(difference) / Math.max(norm(reference), smallest);
  });
  const whole_error = norm(got.gradients.map((value, index) => value - wanted.gradients[index]!)) / norm(wanted.gradients);
  return { preset, arm: gpu_arm_name, loss: got.loss, wasm_loss: wanted.loss, largest_error: Math.max(...errors), whole_error, errors };
}

/** The same steps three times over: serial, serial after a reset, pipelined after a reset. */
async function repeats() {
  const preset = text("preset", "small");
  const count = number("steps", 20);
  const arm = new WebGpuArm(base_url);
  await arm.prepare(config(gpu_arm_name, preset, {}));
  const first = (await timedSteps(arm, count)).losses;
  await arm.reset();
  const second = (await timedSteps(arm, count)).losses;
  await arm.reset();
  const third = (await arm.pipelined(count)).losses;
  arm.dispose();
  const same = (losses: number[]) => losses.every((loss, index) => loss === first[index]);
  return { preset, arm: gpu_arm_name, identical: same(second) && same(third), first, second, third };
}

const tasks: Record<string, () => Promise<object>> = { steps, operations, tiles, attention, gemm, drift, gradients, repeats };

async function main(): Promise<void> {
  const task = text("task", "steps");
  try {
    const run = tasks[task];
    if (run === undefined) throw new Error(`unknown task ${task}; known: ${Object.keys(tasks).join(", ")}`);
    const started = performance.now();
    const result = await run();
    self.postMessage({ ok: true, task, seconds: (performance.now() - started) / 1000, ...result });
  } catch (thrown) {
    const error = thrown instanceof Error ? `${thrown.name}: ${thrown.message}\n${thrown.stack ?? ""}` : String(thrown);
    self.postMessage({ ok: false, task, error });
  }
}

void main();
