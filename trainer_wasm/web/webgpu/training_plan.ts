// The static plan of a training step: every dispatch with its pipeline, bind group and size, made once and then replayed.
//
// Weight gradients need nothing of each other, so they wait until the backward chain has passed all layers and then run
// for all layers at once, one dispatch a shape. The chain itself takes 7 dispatches a layer forward and 7 backward.

import { attentionTile, DispatchFactory, type AttentionTile, type Dispatch, type PlanOptions, type Range } from "./dispatch_factory";
import type { KernelLibrary } from "./kernel_library";
import { bytesOf, type BufferName, type ModelBuffers, type ModelPlan } from "./model_buffers";
import { vocabulary, type TensorPlace } from "./parameter_layout";

export type { AttentionTile, Dispatch, PlanOptions } from "./dispatch_factory";

export interface TrainingPlan {
  /** Forward, loss, backward and the sum of partial gradients. */
  gradients: Dispatch[];
  /** AdamW, and where there is one the half-precision copy of the new weights. */
  update: Dispatch[];
  /** What makes that copy, for weights that come from elsewhere. */
  copies: Dispatch[];
  /** AdamW on copies, for the test that slows only the optimiser. */
  scratch_update: Dispatch[];
  /** The tile of each matrix product, by name. */
  tiles: Record<string, string>;
}

export async function makeTrainingPlan(
  device: GPUDevice,
  library: KernelLibrary,
  buffers: ModelBuffers,
  plan: ModelPlan,
  options: PlanOptions,
): Promise<TrainingPlan> {
  const { shape, tokens, layout, batch, slots } = plan;
  const { layers, d_model: width, ctx, heads } = shape;
  const head_size = width / heads;
  const vectorised = !options.naive && width % 4 === 0 && head_size % 4 === 0 && head_size <= 128;
  const factory = new DispatchFactory(device, library, buffers, options, vectorised, plan.half);
  const norm_kernel = (direction: string) => `layer_norm_${direction}${options.subgroups ? "_subgroups" : ""}`;

  const numbersIn = (buffer: BufferName) => buffers[buffer].size / bytesOf(buffer, plan.half);
  const whole = (buffer: BufferName): Range => ({ buffer, offset: 0, size: numbersIn(buffer) });
  const tensor = (place: TensorPlace, buffer: BufferName = "parameters"): Range => ({ buffer, offset: place.offset, size: place.size });
  /** A weight as a matrix product reads it. */
  const operand = (place: TensorPlace): Range => tensor(place, plan.half ? "half_parameters" : "parameters");
  const matrix = (buffer: BufferName, index: number, columns: number): Range => ({
    buffer,
    offset: index * plan.row_stride(columns),
    size: tokens * columns,
  });
  const statistics = (index: number): Range => ({ buffer: "statistics", offset: index * plan.statistics_stride, size: 2 * tokens });
  const log_sum_exp = (layer: number): Range => ({
    buffer: "log_sum_exp",
    offset: layer * plan.align(tokens * heads),
    size: tokens * heads,
  });
  const elements = (count: number, each: number) => Math.ceil(count / each / 64);

  const norm = (index: number, x: Range, gain: TensorPlace, bias: TensorPlace) =>
    factory.either(
      `layer norm ${index}`,
      norm_kernel("forward"),
      { ROWS: tokens, WIDTH: width },
      { ROWS: tokens, WIDTH: width },
      [x, tensor(gain), tensor(bias), matrix("normalised", index, width), statistics(index)],
      tokens,
      Math.ceil(tokens / 64),
    );
  const normBackward = (index: number, x: Range, gain: TensorPlace, residual: Range | undefined, dx: Range) =>
    factory.either(
      `layer norm ${index} backward`,
      norm_kernel("backward"),
      { ROWS: tokens, WIDTH: width, HAS_RESIDUAL: residual !== undefined },
      { ROWS: tokens, WIDTH: width, HAS_RESIDUAL: residual !== undefined },
      [matrix("d_normalised", index, width), x, statistics(index), tensor(gain), residual ?? matrix("d_normalised", index, width), dx],
      tokens,
      Math.ceil(tokens / 64),
    );

  const forward_tile = options.attention_forward ?? attentionTile(head_size, "forward");
  const backward_tile = options.attention_backward ?? attentionTile(head_size, "backward");
  const attention_shape = { BATCH: shape.batch, CTX: ctx, HEADS: heads, WIDTH: width };
  const attentionGroups = (tile: AttentionTile) => Math.ceil(ctx / tile.ROWS) * shape.batch * heads;

  const forward: Promise<Dispatch>[] = [];
  const embed_overrides = { TOKENS: tokens, CTX: ctx, WIDTH: width, TOKENS_AT: batch.tokens_at };
  forward.push(
    factory.either(
      "embedding",
      "embed_forward",
      embed_overrides,
      embed_overrides,
      [whole("batch"), tensor(layout.token_embedding), tensor(layout.position_embedding), matrix("block_input", 0, width)],
      elements(tokens * width, 4),
      elements(tokens * width, 1),
    ),
  );
  for (let layer = 0; layer < layers; layer += 1) {
    const places = layout.layers[layer]!;
    forward.push(
      norm(2 * layer, matrix("block_input", layer, width), places.first_norm_gain, places.first_norm_bias),
      factory.gemm({
        name: "qkv",
        label: `qkv ${layer}`,
        m: tokens,
        n: 3 * width,
        k: width,
        epilogue: "bias",
        a: matrix("normalised", 2 * layer, width),
        b: operand(places.qkv_weight),
        bias: tensor(places.qkv_bias),
        c: matrix("qkv", layer, 3 * width),
      }),
      factory.either(
        `attention ${layer}`,
        "attention_forward",
        { ...attention_shape, ...forward_tile },
        attention_shape,
        [matrix("qkv", layer, 3 * width), matrix("attention", layer, width), log_sum_exp(layer)],
        attentionGroups(forward_tile),
        elements(tokens * width, 1),
      ),
      factory.gemm({
        name: "projection",
        label: `projection ${layer}`,
        m: tokens,
        n: width,
        k: width,
        epilogue: "residual",
        a: matrix("attention", layer, width),
        b: operand(places.projection_weight),
        bias: tensor(places.projection_bias),
        extra: matrix("block_input", layer, width),
        c: matrix("middle", layer, width),
      }),
      norm(2 * layer + 1, matrix("middle", layer, width), places.second_norm_gain, places.second_norm_bias),
      factory.gemm({
        name: "expand",
        label: `expand ${layer}`,
        m: tokens,
        n: 4 * width,
        k: width,
        epilogue: "gelu",
        a: matrix("normalised", 2 * layer + 1, width),
        b: operand(places.expand_weight),
        bias: tensor(places.expand_bias),
        c: matrix("activated", layer, 4 * width),
        pre_activation: matrix("expanded", layer, 4 * width),
      }),
      factory.gemm({
        name: "contract",
        label: `contract ${layer}`,
        m: tokens,
        n: width,
        k: 4 * width,
        epilogue: "residual",
        a: matrix("activated", layer, 4 * width),
        b: operand(places.contract_weight),
        bias: tensor(places.contract_bias),
        extra: matrix("middle", layer, width),
        c: matrix("block_input", layer + 1, width),
      }),
    );
  }
  forward.push(
    norm(2 * layers, matrix("block_input", layers, width), layout.last_norm_gain, layout.last_norm_bias),
    factory.gemm({
      name: "logits",
      label: "logits",
      m: tokens,
      n: vocabulary,
      k: width,
      trans_b: true,
      a: matrix("normalised", 2 * layers, width),
      b: operand(layout.token_embedding),
      c: matrix("logits", 0, vocabulary),
    }),
    factory.either(
      "cross-entropy",
      "cross_entropy",
      { TOKENS: tokens, TARGETS_AT: batch.targets_at },
      { TOKENS: tokens, TARGETS_AT: batch.targets_at },
      [whole("batch"), matrix("logits", 0, vocabulary), whole("row_loss")],
      tokens,
      Math.ceil(tokens / 64),
    ),
  );

  const backward: Promise<Dispatch>[] = [];
  /** dX = dY W^T, the weight being [into, out_of]. */
  const inputGradient = (name: string, layer: number, into: number, out_of: number, dy: Range, weight: TensorPlace, c: Range, extra?: Range) =>
    factory.gemm({
      name,
      label: `${name} ${layer}`,
      m: tokens,
      n: into,
      k: out_of,
      trans_b: true,
      epilogue: extra === undefined ? "none" : "gelu-derivative",
      a: dy,
      b: operand(weight),
      c,
      ...(extra === undefined ? {} : { extra }),
    });
  backward.push(
    factory.gemm({
      name: "d logits",
      label: "d logits",
      m: tokens,
      n: width,
      k: vocabulary,
      a: matrix("logits", 0, vocabulary),
      b: operand(layout.token_embedding),
      c: matrix("d_normalised", 2 * layers, width),
    }),
    normBackward(2 * layers, matrix("block_input", layers, width), layout.last_norm_gain, undefined, matrix("d_block", layers, width)),
  );
  for (let layer = layers - 1; layer >= 0; layer -= 1) {
    const places = layout.layers[layer]!;
    backward.push(
      inputGradient("d contract", layer, 4 * width, width, matrix("d_block", layer + 1, width), places.contract_weight,
        matrix("d_expanded", layer, 4 * width), matrix("expanded", layer, 4 * width)),
      inputGradient("d expand", layer, width, 4 * width, matrix("d_expanded", layer, 4 * width), places.expand_weight,
        matrix("d_normalised", 2 * layer + 1, width)),
      normBackward(2 * layer + 1, matrix("middle", layer, width), places.second_norm_gain,
        matrix("d_block", layer + 1, width), matrix("d_middle", layer, width)),
      inputGradient("d projection", layer, width, width, matrix("d_middle", layer, width), places.projection_weight,
        matrix("d_attention", 0, width)),
      factory.either(
        `attention ${layer} backward`,
        "attention_backward",
        { ...attention_shape, ...backward_tile },
        attention_shape,
        [matrix("qkv", layer, 3 * width), matrix("attention", layer, width), log_sum_exp(layer), matrix("d_attention", 0, width),
          matrix("d_qkv", layer, 3 * width)],
        2 * attentionGroups(backward_tile),
        elements(tokens * width, 1),
      ),
      inputGradient("d qkv", layer, width, 3 * width, matrix("d_qkv", layer, 3 * width), places.qkv_weight,
        matrix("d_normalised", 2 * layer, width)),
      normBackward(2 * layer, matrix("block_input", layer, width), places.first_norm_gain,
        matrix("d_middle", layer, width), matrix("d_block", layer, width)),
    );
  }

  const first = layout.layers[0]!;
  const gradients = whole("gradients");
  /** dW = X^T dY of every layer, with the bias gradient as the column sums of dY. */
  const weightGradient = (name: string, into: number, out_of: number, x: Range, x_stride: number, dy: Range, dy_stride: number,
    weight: TensorPlace, bias: TensorPlace) =>
    factory.gemm({
      name,
      label: name,
      m: into,
      n: out_of,
      k: tokens,
      trans_a: true,
      layers,
      splits: slots,
      a: x,
      b: dy,
      c: gradients,
      overrides: {
        A_LAYER_STRIDE: x_stride,
        B_LAYER_STRIDE: dy_stride,
        C_BASE: weight.offset,
        C_LAYER_STRIDE: layout.layer_stride,
        C_SPLIT_STRIDE: layout.size,
        COLUMN_SUMS: true,
        COLUMN_SUMS_BASE: bias.offset,
      },
    });
  /** All layers of an activation, from a first one on. */
  const layersOf = (buffer: BufferName, offset = 0): Range => ({ buffer, offset, size: numbersIn(buffer) - offset });
  const rows = plan.row_stride;
  const norm_parameters = {
    ROWS: tokens,
    WIDTH: width,
    LAYERS: layers,
    X_STRIDE: rows(width),
    STATISTICS_STRIDE: plan.statistics_stride,
    WIDTH_PADDED: plan.align(width),
    FIRST_LAYER_AT: first.first_norm_gain.offset,
    LAYER_STRIDE: layout.layer_stride,
    SECOND_NORM_AT: first.second_norm_gain.offset - first.first_norm_gain.offset,
    LAST_NORM_AT: layout.last_norm_gain.offset,
  };
  const extra_at = slots * layout.size;
  const embed_common = { TOKENS: tokens, CTX: ctx, WIDTH: width, RESULT_AT: extra_at, POSITIONS_AT: layout.position_embedding.offset };
  const embed_lanes = 16;
  const update_sizes = { SIZE: layout.size, SLOTS: slots, SLOT_STRIDE: layout.size, EXTRA: plan.extra, GROUPS: plan.norm_groups };
  backward.push(
    weightGradient("dw expand", width, 4 * width, layersOf("normalised", rows(width)), 2 * rows(width), layersOf("d_expanded"),
      rows(4 * width), first.expand_weight, first.expand_bias),
    weightGradient("dw contract", 4 * width, width, layersOf("activated"), rows(4 * width), layersOf("d_block", rows(width)),
      rows(width), first.contract_weight, first.contract_bias),
    weightGradient("dw qkv", width, 3 * width, layersOf("normalised"), 2 * rows(width), layersOf("d_qkv"), rows(3 * width),
      first.qkv_weight, first.qkv_bias),
    weightGradient("dw projection", width, width, layersOf("attention"), rows(width), layersOf("d_middle"), rows(width),
      first.projection_weight, first.projection_bias),
    factory.gemm({
      name: "dw logits",
      label: "dw logits",
      m: vocabulary,
      n: width,
      k: tokens,
      trans_a: true,
      splits: slots,
      a: matrix("logits", 0, vocabulary),
      b: matrix("normalised", 2 * layers, width),
      c: gradients,
      overrides: { C_BASE: layout.token_embedding.offset, C_SPLIT_STRIDE: layout.size },
    }),
    factory.either(
      "layer norm parameters",
      "layer_norm_parameters",
      norm_parameters,
      norm_parameters,
      [whole("block_input"), whole("middle"), whole("d_normalised"), whole("statistics"), gradients],
      (2 * layers + 1) * Math.ceil(width / 4 / 8),
      Math.ceil(((2 * layers + 1) * width) / 64),
    ),
    factory.either(
      "embedding backward",
      "embed_backward",
      { ...embed_common, ORDER_AT: batch.order_at, STARTS_AT: batch.starts_at, LANES: embed_lanes, ROWS: 16 },
      { ...embed_common, TOKENS_AT: batch.tokens_at },
      [whole("batch"), matrix("d_block", 0, width), gradients],
      (vocabulary + ctx) * Math.ceil(width / 4 / embed_lanes),
      elements((vocabulary + ctx) * width, 1),
    ),
    factory.either("gradient norm", "gradient_norm", update_sizes, update_sizes, [gradients, whole("partial_squares")], plan.norm_groups, plan.norm_groups),
  );

  const decay = (place: TensorPlace) => place.offset - first.first_norm_gain.offset;
  const update_groups = Math.min(8192, Math.ceil(layout.size / 4 / 256));
  const adamw = {
    SIZE: layout.size,
    PARTIALS: plan.norm_groups,
    TOKENS: tokens,
    DECAY_0_END: layout.position_embedding.offset + layout.position_embedding.size,
    FIRST_LAYER_AT: first.first_norm_gain.offset,
    LAYERS: layers,
    LAYER_STRIDE: layout.layer_stride,
    DECAY_1_BEGIN: decay(first.qkv_weight),
    DECAY_1_END: decay(first.qkv_weight) + first.qkv_weight.size,
    DECAY_2_BEGIN: decay(first.projection_weight),
    DECAY_2_END: decay(first.projection_weight) + first.projection_weight.size,
    DECAY_3_BEGIN: decay(first.expand_weight),
    DECAY_3_END: decay(first.expand_weight) + first.expand_weight.size,
    DECAY_4_BEGIN: decay(first.contract_weight),
    DECAY_4_END: decay(first.contract_weight) + first.contract_weight.size,
  };
  const update = (label: string, targets: [BufferName, BufferName, BufferName, BufferName]) =>
    factory.either(
      label,
      "adamw",
      { ...adamw, GROUPS: update_groups },
      adamw,
      [
        whole(targets[0]),
        whole(targets[1]),
        whole(targets[2]),
        { buffer: "gradients", offset: 0, size: layout.size },
        whole("partial_squares"),
        whole("batch"),
        whole("row_loss"),
        whole(targets[3]),
      ],
      update_groups,
      elements(layout.size, 1),
    );
  // Only what a forward product reads is halved. Gradients stay f32: without a scaled loss most of theirs would be subnormal
  // in f16, as the mean over thousands of tokens makes them small; logits and the residual stream keep their range and sums.
  const copies = plan.half
    ? [
        await factory.make("half-precision copy", "copy_parameters", { SIZE: layout.size }, [whole("parameters"), whole("half_parameters")],
          Math.ceil(layout.size / 4 / 256)),
      ]
    : [];
  const has_scratch = buffers.scratch_parameters.size / 4 === layout.size;
  return {
    gradients: await Promise.all([...forward, ...backward]),
    update: [await update("adamw", ["parameters", "first_moment", "second_moment", "result"]), ...copies],
    copies,
    scratch_update: has_scratch
      ? [await update("adamw on copies", ["scratch_parameters", "scratch_first_moment", "scratch_second_moment", "scratch_result"])]
      : [],
    tiles: factory.tiles,
  };
}
