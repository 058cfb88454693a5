// Every GPU buffer of a model: how large each is, known before the device is asked for, and the buffers themselves.

import type { ModelShape } from "../arm";
import { layOutBatch, type BatchPlaces } from "./batch_words";
import type { GpuDevice } from "./gpu_device";
import { aligned, alignment, layOutParameters, vocabulary, type ParameterLayout } from "./parameter_layout";

/** What the half-precision arm keeps as f16: all that a matrix product of the forward pass reads, and the pre-activations. */
export const half_buffers: readonly string[] = ["half_parameters", "normalised", "qkv", "attention", "expanded", "activated"];

export interface ModelPlan {
  shape: ModelShape;
  /** True where `half_buffers` hold f16 in place of f32. */
  half: boolean;
  /** Numbers in a range of a buffer, rounded up so that the next range may be bound. */
  align: (numbers: number) => number;
  tokens: number;
  layout: ParameterLayout;
  batch: BatchPlaces;
  /** Floats from one layer's [tokens, d_model] matrix to the next; others are multiples of d_model wide. */
  row_stride: (width: number) => number;
  statistics_stride: number;
  /** Partial weight gradients kept apart (the two passes of split-K), each as large as the parameters. */
  slots: number;
  /** Floats of the last partial gradient, which holds the gather of the token embedding only: its table comes first. */
  extra: number;
  norm_groups: number;
}

/** How many ranges of the token dimension the weight gradients are summed in. */
export function chooseSlots(shape: ModelShape, parameters: number): number {
  const tokens = shape.batch * shape.ctx;
  // A 32 x 32 tile a workgroup: small models need more than one range to occupy a large GPU.
  const workgroups = (12 * shape.layers * shape.d_model ** 2) / 1024;
  let slots = 1;
  while (slots < 4 && workgroups * slots < 800 && tokens / slots >= 256 && parameters * slots < 16e6) slots *= 2;
  return slots;
}

export function planModel(shape: ModelShape, half = false): ModelPlan {
  const tokens = shape.batch * shape.ctx;
  const to = half ? 2 * alignment : alignment;
  const align = (numbers: number) => aligned(numbers, to);
  const layout = layOutParameters(shape, to);
  return {
    shape,
    half,
    align,
    tokens,
    layout,
    batch: layOutBatch(tokens),
    row_stride: (width) => align(tokens * width),
    statistics_stride: align(2 * tokens),
    slots: chooseSlots(shape, layout.size),
    extra: layout.position_embedding.offset,
    norm_groups: Math.min(1024, Math.ceil(layout.size / 4 / 256)),
  };
}

/** The name of each buffer, with its size in numbers. */
export function bufferSizes(plan: ModelPlan, needs_scratch_update: boolean) {
  const { shape, tokens, layout } = plan;
  const { layers, d_model: width } = shape;
  const rows = plan.row_stride;
  return {
    parameters: layout.size,
    half_parameters: plan.half ? layout.size : 64,
    first_moment: layout.size,
    second_moment: layout.size,
    gradients: plan.slots * layout.size + plan.extra,
    partial_squares: plan.norm_groups,
    batch: plan.batch.words,
    row_loss: tokens,
    result: 2,
    unused: 64,
    block_input: (layers + 1) * rows(width),
    middle: layers * rows(width),
    normalised: (2 * layers + 1) * rows(width),
    statistics: (2 * layers + 1) * plan.statistics_stride,
    qkv: layers * rows(3 * width),
    attention: layers * rows(width),
    log_sum_exp: layers * plan.align(tokens * shape.heads),
    expanded: layers * rows(4 * width),
    activated: layers * rows(4 * width),
    logits: rows(vocabulary),
    d_block: (layers + 1) * rows(width),
    d_middle: layers * rows(width),
    d_normalised: (2 * layers + 1) * rows(width),
    d_attention: rows(width),
    d_qkv: layers * rows(3 * width),
    d_expanded: layers * rows(4 * width),
    scratch_parameters: needs_scratch_update ? layout.size : 64,
    scratch_first_moment: needs_scratch_update ? layout.size : 64,
    scratch_second_moment: needs_scratch_update ? layout.size : 64,
    scratch_result: 2,
  };
}

export type BufferName = keyof ReturnType<typeof bufferSizes>;
export type ModelBuffers = Record<BufferName, GPUBuffer>;

/** Bytes of one number in a buffer. */
export function bytesOf(buffer: string, half: boolean): 2 | 4 {
  return half && half_buffers.includes(buffer) ? 2 : 4;
}

export function largestBufferBytes(sizes: Record<string, number>): number {
  return 4 * Math.max(...Object.values(sizes));
}

/** @throws ArmError out-of-memory with the bytes asked for */
export async function createBuffers(gpu: GpuDevice, sizes: Record<BufferName, number>, half = false): Promise<ModelBuffers> {
  const total = Object.entries(sizes).reduce((sum, [name, size]) => sum + bytesOf(name, half) * size, 0);
  return gpu.scoped(`creating the buffers of the model, ${total} bytes in all`, () => {
    const entries = Object.entries(sizes).map(([name, size]) => [
      name,
      gpu.device.createBuffer({
        label: name,
        size: bytesOf(name, half) * size,
        usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST,
      }),
    ]);
    return Object.fromEntries(entries) as ModelBuffers;
  });
}
