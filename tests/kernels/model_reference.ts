// The whole model, forward and backward, composed of the double-precision operations: the independent check of an arm.

import type { ModelShape } from "../../trainer_wasm/web/arm";
import { layOutParameters, type TensorPlace } from "../../trainer_wasm/web/webgpu/parameter_layout";
import * as reference from "./reference";
import type { Values } from "./reference";

/**
 * Loss and flat gradient (in the trainer's order) of one batch.
 * @param keep what becomes of the numbers that the half-precision arm keeps as f16; as they are unless given
 */
export function modelGradients(shape: ModelShape, flat: ArrayLike<number>, tokens: ArrayLike<number>, targets: ArrayLike<number>, keep = (values: Values): Values => values): { loss: number; gradients: Values } {
  const { d_model: width, ctx, batch, heads, layers } = shape;
  const rows = batch * ctx;
  const layout = layOutParameters(shape);
  const parameters = Float64Array.from(flat);
  const gradients = reference.values(layout.source_size);
  const get = (place: TensorPlace): Values => parameters.slice(place.source, place.source + place.size);
  /** A weight as a matrix product reads it. */
  const operand = (place: TensorPlace): Values => keep(get(place));
  const accumulate = (place: TensorPlace, values: Values): void => {
    values.forEach((v, i) => {
      gradients[place.source + i]! += v;
    });
  };
  const attention_shape = { batch, ctx, heads, width };

  const normalised = <Norm extends { out: Values }>(norm: Norm): Norm => ({ ...norm, out: keep(norm.out) });

  let x = reference.embedForward(tokens, get(layout.token_embedding), get(layout.position_embedding), ctx, width);
  const saved = layout.layers.map((places) => {
    const first = normalised(reference.layerNormForward(x, get(places.first_norm_gain), get(places.first_norm_bias), width));
    const qkv = keep(reference.addRow(reference.gemm(first.out, operand(places.qkv_weight), rows, 3 * width, width), get(places.qkv_bias)));
    const attended = keep(reference.attentionForward(qkv, attention_shape).out);
    const projected = reference.addRow(reference.gemm(attended, operand(places.projection_weight), rows, width, width), get(places.projection_bias));
    const middle = reference.add(x, projected);
    const second = normalised(reference.layerNormForward(middle, get(places.second_norm_gain), get(places.second_norm_bias), width));
    const expanded = reference.addRow(reference.gemm(second.out, operand(places.expand_weight), rows, 4 * width, width), get(places.expand_bias));
    const activated = keep(reference.gelu(expanded));
    const contracted = reference.addRow(reference.gemm(activated, operand(places.contract_weight), rows, width, 4 * width), get(places.contract_bias));
    const input = x;
    x = reference.add(middle, contracted);
    return { input, first, qkv, attended, middle, second, expanded: keep(expanded), activated };
  });
  const last = normalised(reference.layerNormForward(x, get(layout.last_norm_gain), get(layout.last_norm_bias), width));
  const logits = reference.gemm(last.out, operand(layout.token_embedding), rows, 256, width, { trans_b: true });
  const { row_loss, d_logits } = reference.crossEntropy(logits, targets);

  accumulate(layout.token_embedding, reference.gemm(d_logits, last.out, 256, width, rows, { trans_a: true }));
  let dy = reference.gemm(d_logits, operand(layout.token_embedding), rows, width, 256);
  const last_parameters = reference.layerNormParameters(dy, x, last.statistics, width);
  accumulate(layout.last_norm_gain, last_parameters.gain);
  accumulate(layout.last_norm_bias, last_parameters.bias);
  let dx = reference.layerNormBackward(dy, x, last.statistics, get(layout.last_norm_gain), width);
  for (let layer = layers - 1; layer >= 0; layer -= 1) {
    const places = layout.layers[layer]!;
    const kept = saved[layer]!;
    accumulate(places.contract_weight, reference.gemm(kept.activated, dx, 4 * width, width, rows, { trans_a: true }));
    accumulate(places.contract_bias, reference.columnSums(dx, width));
    const d_activated = reference.gemm(dx, operand(places.contract_weight), rows, 4 * width, width, { trans_b: true });
    const d_expanded = reference.geluBackward(d_activated, kept.expanded);
    accumulate(places.expand_weight, reference.gemm(kept.second.out, d_expanded, width, 4 * width, rows, { trans_a: true }));
    accumulate(places.expand_bias, reference.columnSums(d_expanded, 4 * width));
    dy = reference.gemm(d_expanded, operand(places.expand_weight), rows, width, 4 * width, { trans_b: true });
    const second = reference.layerNormParameters(dy, kept.middle, kept.second.statistics, width);
    accumulate(places.second_norm_gain, second.gain);
    accumulate(places.second_norm_bias, second.bias);
    const d_middle = reference.add(dx, reference.layerNormBackward(dy, kept.middle, kept.second.statistics, get(places.second_norm_gain), width));
    accumulate(places.projection_weight, reference.gemm(kept.attended, d_middle, width, width, rows, { trans_a: true }));
    accumulate(places.projection_bias, reference.columnSums(d_middle, width));
    const d_attended = reference.gemm(d_middle, operand(places.projection_weight), rows, width, width, { trans_b: true });
    const d_qkv = reference.attentionBackward(kept.qkv, d_attended, attention_shape);
    accumulate(places.qkv_weight, reference.gemm(kept.first.out, d_qkv, width, 3 * width, rows, { trans_a: true }));
    accumulate(places.qkv_bias, reference.columnSums(d_qkv, 3 * width));
    dy = reference.gemm(d_qkv, operand(places.qkv_weight), rows, width, 3 * width, { trans_b: true });
    const first = reference.layerNormParameters(dy, kept.input, kept.first.statistics, width);
    accumulate(places.first_norm_gain, first.gain);
    accumulate(places.first_norm_bias, first.bias);
    dx = reference.add(d_middle, reference.layerNormBackward(dy, kept.input, kept.first.statistics, get(places.first_norm_gain), width));
  }
  const embedding = reference.embedBackward(tokens, dx, ctx, width);
  accumulate(layout.token_embedding, embedding.token_table);
  accumulate(layout.position_embedding, embedding.position_table);
  return { loss: row_loss.reduce((sum, v) => sum + v, 0) / rows, gradients };
}

/** The largest |g - r| / max(|r|, 1e-6 * global norm), norms taken tensor by tensor. */
export function largestTensorError(shape: ModelShape, got: ArrayLike<number>, expected: Values): number {
  const norm = (values: ArrayLike<number>) => Math.sqrt(Array.from(values).reduce((sum, v) => sum + v * v, 0));
  const global = norm(expected);
  return Math.max(
    ...layOutParameters(shape).tensors.map(({ source, size }) => {
      const wanted = expected.subarray(source, source + size);
      const difference = wanted.map((v, i) => v - got[source + i]!);
      return norm(difference) / Math.max(norm(wanted), 1e-6 * global);
    }),
  );
}
