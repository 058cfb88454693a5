// Text from trained weights: the model's forward pass for one token after another, with the keys and values of earlier
// tokens kept. Plain TypeScript, so that the same code samples from every arm's parameters; it is never timed.

import type { ModelShape } from "../arm";

const vocabulary = 256;
const norm_epsilon = 1e-5;

interface Layer {
  norm1_gain: Float32Array;
  norm1_bias: Float32Array;
  qkv_weight: Float32Array;
  qkv_bias: Float32Array;
  projection_weight: Float32Array;
  projection_bias: Float32Array;
  norm2_gain: Float32Array;
  norm2_bias: Float32Array;
  expand_weight: Float32Array;
  expand_bias: Float32Array;
  contract_weight: Float32Array;
  contract_bias: Float32Array;
}

interface Weights {
  tokens: Float32Array;
  positions: Float32Array;
  layers: Layer[];
  last_gain: Float32Array;
  last_bias: Float32Array;
}

/** Cuts the flat parameter vector into its tensors; the order is that of trainer_wasm/src/abi.hpp. */
function cutWeights(shape: ModelShape, flat: Float32Array): Weights {
  const d = shape.d_model;
  let offset = 0;
  const take = (size: number): Float32Array => {
    const part = flat.subarray(offset, offset + size);
    offset += size;
    return part;
  };
  const tokens = take(vocabulary * d);
  const positions = take(shape.ctx * d);
  const layers = Array.from({ length: shape.layers }, () => ({
    norm1_gain: take(d),
    norm1_bias: take(d),
    qkv_weight: take(d * 3 * d),
    qkv_bias: take(3 * d),
    projection_weight: take(d * d),
    projection_bias: take(d),
    norm2_gain: take(d),
    norm2_bias: take(d),
    expand_weight: take(d * 4 * d),
    expand_bias: take(4 * d),
    contract_weight: take(4 * d * d),
    contract_bias: take(d),
  }));
  const weights = { tokens, positions, layers, last_gain: take(d), last_bias: take(d) };
  if (offset !== flat.length) throw new RangeError(`the model has ${offset} parameters, given were ${flat.length}`);
  return weights;
}

export class Sampler {
  private readonly weights_: Weights;
  /** Keys and values by layer, position after position. */
  private readonly keys_: Float32Array[];
  private readonly values_: Float32Array[];
  private position_ = 0;

  constructor(
    private readonly shape_: ModelShape,
    parameters: Float32Array,
  ) {
    this.weights_ = cutWeights(shape_, parameters);
    const cache = (): Float32Array[] => Array.from({ length: shape_.layers }, () => new Float32Array(shape_.ctx * shape_.d_model));
    this.keys_ = cache();
    this.values_ = cache();
  }

  /** Number of tokens in the window; at most ctx. */
  get position(): number {
    return this.position_;
  }

  /** Forgets every token. */
  clear(): void {
    this.position_ = 0;
  }

  /** Appends a byte and returns the logits of the next one. @throws RangeError when the window is full */
  next(token: number): Float32Array {
    const { d_model: d, ctx } = this.shape_;
    if (this.position_ >= ctx) throw new RangeError(`the window of ${ctx} tokens is full`);
    const { tokens, positions, layers, last_gain, last_bias } = this.weights_;
    const x = new Float32Array(d);
    for (let i = 0; i < d; i += 1) x[i] = tokens[token * d + i]! + positions[this.position_ * d + i]!;
    layers.forEach((layer, index) => {
      const qkv = affine(normalise(x, layer.norm1_gain, layer.norm1_bias), layer.qkv_weight, layer.qkv_bias);
      this.keys_[index]!.set(qkv.subarray(d, 2 * d), this.position_ * d);
      this.values_[index]!.set(qkv.subarray(2 * d), this.position_ * d);
      const mixed = this.attend(qkv.subarray(0, d), this.keys_[index]!, this.values_[index]!);
      add(x, affine(mixed, layer.projection_weight, layer.projection_bias));
      const hidden = affine(normalise(x, layer.norm2_gain, layer.norm2_bias), layer.expand_weight, layer.expand_bias);
      add(x, affine(hidden.map(gelu), layer.contract_weight, layer.contract_bias));
    });
    this.position_ += 1;
    const last = normalise(x, last_gain, last_bias);
    const logits = new Float32Array(vocabulary);
    for (let token_id = 0; token_id < vocabulary; token_id += 1) {
      let sum = 0;
      for (let i = 0; i < d; i += 1) sum += last[i]! * tokens[token_id * d + i]!;
      logits[token_id] = sum;
    }
    return logits;
  }

  private attend(query: Float32Array, keys: Float32Array, values: Float32Array): Float32Array {
    const { d_model: d, heads } = this.shape_;
    const size = d / heads;
    const scale = 1 / Math.sqrt(size);
    const mixed = new Float32Array(d);
    for (let head = 0; head < heads; head += 1) {
      const from = head * size;
      const scores = new Float32Array(this.position_ + 1);
      for (let t = 0; t <= this.position_; t += 1) {
        let sum = 0;
        for (let i = 0; i < size; i += 1) sum += query[from + i]! * keys[t * d + from + i]!;
        scores[t] = sum * scale;
      }
      const weights = softmax(scores, 1);
      for (let t = 0; t <= this.position_; t += 1) {
        for (let i = 0; i < size; i += 1) mixed[from + i]! += weights[t]! * values[t * d + from + i]!;
      }
    }
    return mixed;
  }
}

/** x W + b with W row-major [in, out]. */
function affine(x: Float32Array, weight: Float32Array, bias: Float32Array): Float32Array {
  const out = Float32Array.from(bias);
  for (let i = 0; i < x.length; i += 1) {
    const factor = x[i]!;
    const row = i * out.length;
    for (let j = 0; j < out.length; j += 1) out[j]! += factor * weight[row + j]!;
  }
  return out;
}

function normalise(x: Float32Array, gain: Float32Array, bias: Float32Array): Float32Array {
  const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
  const variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length;
  const inverse = 1 / Math.sqrt(variance + norm_epsilon);
  return x.map((value, index) => (value - mean) * inverse * gain[index]! + bias[index]!);
}

function gelu(x: number): number {
  return 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));
}

function add(x: Float32Array, more: Float32Array): void {
  for (let i = 0; i < x.length; i += 1) x[i]! += more[i]!;
}

function softmax(scores: Float32Array, temperature: number): Float32Array {
  const highest = scores.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const powers = scores.map((score) => Math.exp((score - highest) / temperature));
  const sum = powers.reduce((total, value) => total + value, 0);
  return powers.map((value) => value / sum);
}

export interface SampleOptions {
  /** Bytes to make. */
  length: number;
  prompt: string;
  temperature: number;
  /** Numbers in [0, 1). */
  random: () => number;
  /** Called after each byte, so that the page stays alive. */
  pause: () => Promise<void>;
}

/** Bytes that continue the prompt, as text; bytes that are no UTF-8 show as the replacement character. */
export async function sampleText(sampler: Sampler, shape: ModelShape, options: SampleOptions): Promise<string> {
  const bytes = [...new TextEncoder().encode(options.prompt === "" ? "\n" : options.prompt)].slice(-shape.ctx);
  const made: number[] = [];
  sampler.clear();
  let logits = feed(sampler, bytes);
  while (made.length < options.length) {
    const next = pick(softmax(logits, options.temperature), options.random());
    made.push(next);
    bytes.push(next);
    // A full window starts anew with its second half: positions are learned, so that kept keys cannot simply be shifted.
    if (sampler.position >= shape.ctx) {
      sampler.clear();
      logits = feed(sampler, bytes.slice(-Math.max(1, shape.ctx >> 1)));
    } else {
      logits = sampler.next(next);
    }
    await options.pause();
  }
  return new TextDecoder().decode(Uint8Array.from(made));
}

function feed(sampler: Sampler, bytes: readonly number[]): Float32Array {
  let logits = new Float32Array(vocabulary);
  for (const byte of bytes) logits = sampler.next(byte) as Float32Array<ArrayBuffer>;
  return logits;
}

function pick(probabilities: Float32Array, random: number): number {
  let sum = 0;
  for (let index = 0; index < probabilities.length; index += 1) {
    sum += probabilities[index]!;
    if (random < sum) return index;
  }
  return probabilities.length - 1;
}
