// Where each tensor lies in the flat vectors of the GPU (parameters, gradients, moments). The same order as the trainer's
// own flat vector, each tensor moved up to a multiple of 64 floats, since a binding's offset is a multiple of 256 bytes.
// The gaps hold zeros, and zero gradients keep them so.

import type { ModelShape } from "../arm";

export const vocabulary = 256;
/** Floats; 256 bytes, the largest minStorageBufferOffsetAlignment that WebGPU allows an adapter to ask for. */
export const alignment = 64;

export function aligned(numbers: number, to = alignment): number {
  return Math.ceil(numbers / to) * to;
}

export interface TensorPlace {
  /** In floats, in the trainer's flat vector. */
  source: number;
  /** In floats, in the GPU's flat vectors. */
  offset: number;
  size: number;
}

export interface LayerPlaces {
  first_norm_gain: TensorPlace;
  first_norm_bias: TensorPlace;
  qkv_weight: TensorPlace;
  qkv_bias: TensorPlace;
  projection_weight: TensorPlace;
  projection_bias: TensorPlace;
  second_norm_gain: TensorPlace;
  second_norm_bias: TensorPlace;
  expand_weight: TensorPlace;
  expand_bias: TensorPlace;
  contract_weight: TensorPlace;
  contract_bias: TensorPlace;
}

export interface ParameterLayout {
  token_embedding: TensorPlace;
  position_embedding: TensorPlace;
  layers: LayerPlaces[];
  last_norm_gain: TensorPlace;
  last_norm_bias: TensorPlace;
  /** Every tensor in order. */
  tensors: TensorPlace[];
  /** Floats in the trainer's flat vector: the number of parameters. */
  source_size: number;
  /** Floats in the GPU's flat vectors, gaps included. */
  size: number;
  /** Floats from the start of one layer to the start of the next. */
  layer_stride: number;
}

/** @param to what every tensor's offset is a multiple of; half-precision copies need twice `alignment` for the same bytes */
export function layOutParameters(shape: ModelShape, to = alignment): ParameterLayout {
  const { layers, d_model: width, ctx } = shape;
  const tensors: TensorPlace[] = [];
  let source = 0;
  let offset = 0;
  const place = (size: number): TensorPlace => {
    const tensor = { source, offset, size };
    source += size;
    offset += aligned(size, to);
    tensors.push(tensor);
    return tensor;
  };
  const token_embedding = place(vocabulary * width);
  const position_embedding = place(ctx * width);
  const first_layer = offset;
  const layer_places: LayerPlaces[] = [];
  for (let layer = 0; layer < layers; layer += 1) {
    layer_places.push({
      first_norm_gain: place(width),
      first_norm_bias: place(width),
      qkv_weight: place(3 * width * width),
      qkv_bias: place(3 * width),
      projection_weight: place(width * width),
      projection_bias: place(width),
      second_norm_gain: place(width),
      second_norm_bias: place(width),
      expand_weight: place(4 * width * width),
      expand_bias: place(4 * width),
      contract_weight: place(4 * width * width),
      contract_bias: place(width),
    });
  }
  const layer_stride = (offset - first_layer) / layers;
  const last_norm_gain = place(width);
  const last_norm_bias = place(width);
  return {
    token_embedding,
    position_embedding,
    layers: layer_places,
    last_norm_gain,
    last_norm_bias,
    tensors,
    source_size: source,
    size: offset,
    layer_stride,
  };
}

/** The trainer's flat vector out of a GPU one. */
export function withoutGaps(padded: Float32Array, layout: ParameterLayout): Float32Array {
  const flat = new Float32Array(layout.source_size);
  for (const tensor of layout.tensors) {
    flat.set(padded.subarray(tensor.offset, tensor.offset + tensor.size), tensor.source);
  }
  return flat;
}
