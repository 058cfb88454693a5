// The WebGPU arm: weights and batches from the trainer's inputs module, everything else on the GPU.

import { ArmError, type Arm, type ArmConfig, type Prepared, type StepResult } from "./arm";
import { loadCorpus } from "./corpus";
import { describeAdapter } from "./page_facts";
import { loadTrainer, TrainerError, type TrainerModule } from "./trainer_module";
import { tuneTiles } from "./webgpu/autotune";
import { packBatch } from "./webgpu/batch_words";
import { GpuDevice, workgroupLimits } from "./webgpu/gpu_device";
import { KernelLibrary } from "./webgpu/kernel_library";
import { bufferSizes, createBuffers, largestBufferBytes, planModel, type ModelBuffers, type ModelPlan } from "./webgpu/model_buffers";
import { withoutGaps } from "./webgpu/parameter_layout";
import { StepClock, timestampQuantum } from "./webgpu/step_clock";
import { encodeDispatches, mapWhenDone, readFloats, splitByWork, wait_in_words, type Wait } from "./webgpu/step_submission";
import { makeTrainingPlan, type Dispatch, type PlanOptions, type TrainingPlan } from "./webgpu/training_plan";

/** Loss and gradient norm. */
const loss_bytes = 8;
/** Steps that may be in flight during the pipelined measurement. */
const ring_size = 8;
/** Weights travel in pieces, so that no staging copy of all of them is needed. */
const upload_floats = 8 * 1024 * 1024;
const gpu_time_in_words = "timestamps of the timed steps' own passes, resolved after the last one";

/** What the arm needs of the trainer's inputs module. */
export type InputsSource = Pick<
  TrainerModule,
  "parameters" | "batch" | "weightsSha256" | "batchesSha256" | "corpusSha256" | "parameterCount" | "dispose"
>;

export interface WebGpuTuning {
  /** Makes weights and batches in place of the trainer's inputs module, for tests of the GPU side alone. */
  inputs?: (config: ArmConfig) => Promise<InputsSource>;
  /** Overrules the choice between the fast kernels and their plain versions. */
  kernels?: "fast" | "plain";
  /** Leaves subgroup operations out even where the device has them. */
  no_subgroups?: boolean;
  /** Work of one submission at most. */
  flops_per_submission?: number;
  /** Leaves timestamps out even where the device has them, to see what they cost. */
  no_timestamps?: boolean;
}

interface PreparedStep {
  commands: GPUCommandBuffer[];
  words: Uint32Array<ArrayBuffer>;
  readback: GPUBuffer;
}

interface Ready {
  config: ArmConfig;
  trainer: InputsSource;
  gpu: GpuDevice;
  plan: ModelPlan;
  buffers: ModelBuffers;
  training: TrainingPlan;
  groups: Dispatch[][];
  readbacks: GPUBuffer[];
  /** Where the device can write timestamps. */
  clock: StepClock | undefined;
  wait: Wait;
}

export class WebGpuArm implements Arm {
  private ready_: Ready | undefined;
  /** Training steps begun since the initial weights. */
  private steps_begun_ = 0;
  private next_: PreparedStep | undefined;

  /** @param base_url address of the folder that holds wasm/ and shaders/, with a slash at its end */
  constructor(
    private readonly base_url_: string,
    private readonly tuning_: WebGpuTuning = {},
  ) {}

  async prepare(config: ArmConfig): Promise<Prepared> {
    const cold_start: Record<string, number> = {};
    let mark = performance.now();
    const lap = (name: string) => {
      const now = performance.now();
      cold_start[name] = now - mark;
      mark = now;
    };
    checkShape(config);
    const half = config.arm === "webgpu-f16";
    const trainer = await (this.tuning_.inputs ?? ((asked) => this.loadInputs(asked)))(config);
    lap("inputs");

    const plan = planModel(config.model, half);
    const repeats = config.options?.repeat_optimizer ?? 1;
    const sizes = bufferSizes(plan, repeats > 1);
    const adapter = await GpuDevice.requestAdapter();
    const adapter_facts = describeAdapter(adapter);
    const workgroup = workgroupLimits(adapter);
    const use_subgroups = this.tuning_.no_subgroups !== true && adapter.features.has("subgroups");
    const gpu = await GpuDevice.open(adapter, {
      largest_buffer_bytes: largestBufferBytes(sizes),
      workgroup,
      features: half ? ["shader-f16"] : [],
      optional_features: [
        ...(use_subgroups ? (["subgroups"] as GPUFeatureName[]) : []),
        ...(this.tuning_.no_timestamps ? [] : (["timestamp-query"] as GPUFeatureName[])),
      ],
    });
    // A software adapter has no shared memory to gain by, and pays for every barrier and for every line it compiles.
    const is_software = adapter_facts.is_fallback === true;
    const plain = (this.tuning_.kernels ?? (is_software && !half ? "plain" : "fast")) === "plain";
    lap("device");

    const buffers = await createBuffers(gpu, sizes, half);
    lap("buffers");
    const library = await KernelLibrary.open(gpu.device, new URL("shaders/", this.base_url_));
    const options: PlanOptions = { subgroups: use_subgroups, workgroup, naive: plain };
    const autotune = config.options?.autotune === true && !plain;
    if (autotune) {
      options.tiles = (await gpu.scoped("autotuning", () => tuneTiles(gpu, library, buffers, plan, options))).chosen;
      lap("autotune");
    }
    const training = await gpu.scoped("making pipelines and bind groups", () =>
      makeTrainingPlan(gpu.device, library, buffers, plan, options),
    );
    lap("pipelines");

    const dispatches = [...training.gradients, ...training.update];
    for (let repeat = 1; repeat < repeats; repeat += 1) dispatches.push(...training.scratch_update);
    const readbacks = Array.from({ length: ring_size }, () =>
      gpu.device.createBuffer({ size: loss_bytes, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST }),
    );
    this.ready_ = {
      config,
      trainer,
      gpu,
      plan,
      buffers,
      training,
      groups: splitByWork(dispatches, this.tuning_.flops_per_submission),
      readbacks,
      clock: gpu.device.features.has("timestamp-query") ? new StepClock(gpu, config.steps) : undefined,
      wait: config.options?.wait ?? "kept-awake",
    };
    await this.reset();
    lap("weights");
    // After the last lap: it is no part of a cold start.
    const quantum = this.ready_.clock === undefined ? undefined : await timestampQuantum(gpu);
    return {
      threads: 1,
      weights_sha256: trainer.weightsSha256(),
      batches_sha256: trainer.batchesSha256(config.steps),
      corpus_sha256: trainer.corpusSha256(),
      parameters: trainer.parameterCount(),
      cold_start,
      dispatches_per_step: dispatches.length,
      wait: wait_in_words[this.ready_.wait],
      ...(quantum === undefined ? {} : { gpu_timestamp_quantum_ns: quantum }),
      variant: {
        precision: half ? "f16 storage of weights and activations, f32 sums, gradients, moments and logits" : "f32",
        kernels: plain ? "plain" : "fast",
        subgroups: use_subgroups && !plain,
        autotuned: autotune,
        gradient_slots: plan.slots,
        submissions_per_step: this.ready_.groups.length,
        next_step_encoded_ahead: true,
        gpu_time: this.ready_.clock === undefined ? "the adapter has no timestamp-query" : gpu_time_in_words,
        ...Object.fromEntries(Object.entries(training.tiles).map(([name, tile]) => [`gemm ${name}`, tile])),
      },
      adapter: adapter_facts,
    };
  }

  async step(): Promise<StepResult> {
    const ready = this.ready();
    const { gpu } = ready;
    gpu.check();
    const step = this.next_ ?? this.prepareStep(ready);
    this.submit(ready, step);
    // The batch and the commands of the next step are made while this one runs.
    this.next_ = this.prepareStep(ready);
    await mapWhenDone(gpu, step.readback, ready.wait);
    return takeResult(step.readback);
  }

  async reset(): Promise<void> {
    const { gpu, trainer, plan, buffers, training } = this.ready();
    this.next_ = undefined;
    this.steps_begun_ = 0;
    await gpu.scoped("restoring the initial weights", async () => {
      const source = trainer.parameters();
      for (const tensor of plan.layout.tensors) {
        for (let done = 0; done < tensor.size; done += upload_floats) {
          const size = Math.min(upload_floats, tensor.size - done);
          // The size of a typed array's part is counted in its elements.
          gpu.device.queue.writeBuffer(buffers.parameters, 4 * (tensor.offset + done), source as Float32Array<ArrayBuffer>, tensor.source + done, size);
        }
      }
      const encoder = gpu.device.createCommandEncoder();
      encoder.clearBuffer(buffers.first_moment);
      encoder.clearBuffer(buffers.second_moment);
      gpu.device.queue.submit([encoder.finish()]);
      if (training.copies.length > 0) gpu.device.queue.submit(encodeDispatches(gpu.device, [training.copies], undefined, () => {}));
      await gpu.device.queue.onSubmittedWorkDone();
    });
  }

  async pipelined(count: number): Promise<{ step_ms: number; losses: number[] }> {
    const ready = this.ready();
    const losses: number[] = [];
    const in_flight: PreparedStep[] = [];
    const finish = async (): Promise<void> => {
      const step = in_flight.shift()!;
      await mapWhenDone(ready.gpu, step.readback, ready.wait);
      losses.push(takeResult(step.readback).loss);
    };
    const started = performance.now();
    for (let index = 0; index < count; index += 1) {
      const step = this.next_ ?? this.prepareStep(ready);
      this.next_ = undefined;
      this.submit(ready, step);
      in_flight.push(step);
      if (in_flight.length === ring_size - 1) await finish();
    }
    while (in_flight.length > 0) await finish();
    return { step_ms: (performance.now() - started) / count, losses };
  }

  async gpuTimes(count: number): Promise<number[] | undefined> {
    return this.ready().clock?.milliseconds(count);
  }

  async readParameters(): Promise<Float32Array> {
    const { gpu, plan, buffers } = this.ready();
    return withoutGaps(await readFloats(gpu, buffers.parameters, plan.layout.size), plan.layout);
  }

  async readGradients(batch_index: number): Promise<{ loss: number; gradients: Float32Array }> {
    await this.reset();
    const { gpu, plan, buffers, training, trainer } = this.ready();
    const words = new Uint32Array(plan.batch.words);
    packBatch(words, plan.batch, trainer.batch(batch_index), 1);
    await gpu.scoped("computing gradients", async () => {
      gpu.device.queue.writeBuffer(buffers.batch, 0, words);
      for (const commands of encodeDispatches(gpu.device, splitByWork(training.gradients), undefined, () => {})) {
        gpu.device.queue.submit([commands]);
      }
      await gpu.device.queue.onSubmittedWorkDone();
    });
    const row_losses = await readFloats(gpu, buffers.row_loss, plan.tokens);
    const padded = await readFloats(gpu, buffers.gradients, plan.layout.size);
    const loss = row_losses.reduce((sum, row) => sum + row, 0) / plan.tokens;
    return { loss, gradients: withoutGaps(padded, plan.layout) };
  }

  dispose(): void {
    this.ready_?.gpu.close();
    this.ready_?.trainer.dispose();
    this.ready_ = undefined;
    this.next_ = undefined;
  }

  private ready(): Ready {
    if (this.ready_ === undefined) throw new ArmError("bad-config", "the arm was used before prepare or after dispose");
    return this.ready_;
  }

  private async loadInputs(config: ArmConfig): Promise<TrainerModule> {
    const corpus = await loadCorpus(config.corpus, this.base_url_);
    try {
      return await loadTrainer({
        variant: "inputs",
        shape: config.model,
        threads: 1,
        seed: BigInt(config.seed),
        mode: "inputs",
        corpus: corpus ?? "builtin",
        baseUrl: new URL("wasm/", this.base_url_),
      });
    } catch (thrown) {
      if (thrown instanceof TrainerError) throw new ArmError(thrown.outOfMemory ? "out-of-memory" : "bad-config", thrown.message);
      throw thrown;
    }
  }

  private prepareStep(ready: Ready): PreparedStep {
    const { gpu, plan, trainer, buffers, clock } = ready;
    const index = this.steps_begun_;
    this.steps_begun_ += 1;
    const words = new Uint32Array(plan.batch.words);
    packBatch(words, plan.batch, trainer.batch(index), index + 1);
    const readback = ready.readbacks[index % ring_size]!;
    const commands = encodeDispatches(gpu.device, ready.groups, clock?.placeOf(index), (encoder) => {
      encoder.copyBufferToBuffer(buffers.result, 0, readback, 0, loss_bytes);
    });
    return { commands, words, readback };
  }

  private submit(ready: Ready, step: PreparedStep): void {
    const { device } = ready.gpu;
    device.queue.writeBuffer(ready.buffers.batch, 0, step.words);
    for (const commands of step.commands) device.queue.submit([commands]);
  }
}

function checkShape(config: ArmConfig): void {
  const { d_model, heads } = config.model;
  if (config.arm === "webgpu-f16" && (d_model % 4 !== 0 || (d_model / heads) % 4 !== 0 || d_model / heads > 128)) {
    throw new ArmError("unsupported", "the half-precision arm needs d_model and the size of a head as multiples of 4, heads of 128 at most");
  }
  if (d_model % heads !== 0) {
    throw new ArmError("bad-config", `d_model ${d_model} is not a multiple of heads ${heads}`);
  }
}

/** @throws ArmError not-finite */
function takeResult(readback: GPUBuffer): StepResult {
  const [loss, norm] = new Float32Array(readback.getMappedRange()) as unknown as [number, number];
  readback.unmap();
  if (!Number.isFinite(loss) || !Number.isFinite(norm)) {
    throw new ArmError("not-finite", `the loss is ${loss} and the gradient norm ${norm}`);
  }
  return { loss };
}
