// Every operation of the model in double precision, written for clarity: what the shaders are checked against.
// Matrices are flat and row-major. Each function names its shapes; none of them changes its arguments.

export type Values = Float64Array;

export function values(size: number): Values {
  return new Float64Array(size);
}

export interface GemmOptions {
  trans_a?: boolean;
  trans_b?: boolean;
}

/** op(a)[m, k] x op(b)[k, n]; a transposed operand is stored [k, m] or [n, k]. */
export function gemm(a: Values, b: Values, m: number, n: number, k: number, options: GemmOptions = {}): Values {
  const c = values(m * n);
  for (let row = 0; row < m; row += 1) {
    for (let inner = 0; inner < k; inner += 1) {
      const left = a[options.trans_a ? inner * m + row : row * k + inner]!;
      for (let column = 0; column < n; column += 1) {
        c[row * n + column]! += left * b[options.trans_b ? column * k + inner : inner * n + column]!;
      }
    }
  }
  return c;
}

export function addRow(matrix: Values, row: Values): Values {
  return matrix.map((value, index) => value + row[index % row.length]!);
}

export function add(a: Values, b: Values): Values {
  return a.map((value, index) => value + b[index]!);
}

export function columnSums(matrix: Values, columns: number): Values {
  const sums = values(columns);
  matrix.forEach((value, index) => {
    sums[index % columns]! += value;
  });
  return sums;
}

const gelu_scale = Math.sqrt(2 / Math.PI);

/** The tanh form: 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))). */
export function gelu(x: Values): Values {
  return x.map((v) => 0.5 * v * (1 + Math.tanh(gelu_scale * (v + 0.044715 * v ** 3))));
}

export function geluBackward(dy: Values, x: Values): Values {
  return dy.map((upstream, index) => {
    const v = x[index]!;
    const t = Math.tanh(gelu_scale * (v + 0.044715 * v ** 3));
    return upstream * (0.5 * (1 + t) + 0.5 * v * (1 - t * t) * gelu_scale * (1 + 3 * 0.044715 * v * v));
  });
}

export function embedForward(tokens: ArrayLike<number>, token_table: Values, position_table: Values, ctx: number, width: number): Values {
  const x = values(tokens.length * width);
  for (let row = 0; row < tokens.length; row += 1) {
    for (let i = 0; i < width; i += 1) {
      x[row * width + i] = token_table[tokens[row]! * width + i]! + position_table[(row % ctx) * width + i]!;
    }
  }
  return x;
}

export function embedBackward(tokens: ArrayLike<number>, dx: Values, ctx: number, width: number): { token_table: Values; position_table: Values } {
  const token_table = values(256 * width);
  const position_table = values(ctx * width);
  for (let row = 0; row < tokens.length; row += 1) {
    for (let i = 0; i < width; i += 1) {
      token_table[tokens[row]! * width + i]! += dx[row * width + i]!;
      position_table[(row % ctx) * width + i]! += dx[row * width + i]!;
    }
  }
  return { token_table, position_table };
}

/** statistics holds mean and 1 / deviation of each row. */
export function layerNormForward(x: Values, gain: Values, bias: Values, width: number): { out: Values; statistics: Values } {
  const rows = x.length / width;
  const out = values(x.length);
  const statistics = values(2 * rows);
  for (let row = 0; row < rows; row += 1) {
    const own = x.subarray(row * width, (row + 1) * width);
    const mean = own.reduce((sum, v) => sum + v, 0) / width;
    const variance = own.reduce((sum, v) => sum + (v - mean) ** 2, 0) / width;
    const scale = 1 / Math.sqrt(variance + 1e-5);
    own.forEach((v, i) => {
      out[row * width + i] = (v - mean) * scale * gain[i]! + bias[i]!;
    });
    statistics.set([mean, scale], 2 * row);
  }
  return { out, statistics };
}

export function layerNormBackward(dy: Values, x: Values, statistics: Values, gain: Values, width: number): Values {
  const dx = values(x.length);
  for (let row = 0; row < x.length / width; row += 1) {
    const mean = statistics[2 * row]!;
    const scale = statistics[2 * row + 1]!;
    let first = 0;
    let second = 0;
    for (let i = 0; i < width; i += 1) {
      const scaled = dy[row * width + i]! * gain[i]!;
      first += scaled / width;
      second += (scaled * (x[row * width + i]! - mean) * scale) / width;
    }
    for (let i = 0; i < width; i += 1) {
      const at = row * width + i;
      dx[at] = scale * (dy[at]! * gain[i]! - first - (x[at]! - mean) * scale * second);
    }
  }
  return dx;
}

export function layerNormParameters(dy: Values, x: Values, statistics: Values, width: number): { gain: Values; bias: Values } {
  const gain = values(width);
  for (let at = 0; at < x.length; at += 1) {
    const row = Math.floor(at / width);
    gain[at % width]! += dy[at]! * (x[at]! - statistics[2 * row]!) * statistics[2 * row + 1]!;
  }
  return { gain, bias: columnSums(dy, width) };
}

export interface AttentionShape {
  batch: number;
  ctx: number;
  heads: number;
  width: number;
}

/** Softmax weights of one query row of one head over keys 0..row, and the log of their sum of exponentials. */
function attentionRow(qkv: Values, shape: AttentionShape, sequence: number, head: number, row: number) {
  const { ctx, heads, width } = shape;
  const size = width / heads;
  const query_at = (sequence * ctx + row) * 3 * width + head * size;
  const scores: number[] = [];
  for (let key = 0; key <= row; key += 1) {
    const key_at = (sequence * ctx + key) * 3 * width + width + head * size;
    let score = 0;
    for (let i = 0; i < size; i += 1) score += qkv[query_at + i]! * qkv[key_at + i]!;
    scores.push(score / Math.sqrt(size));
  }
  const largest = Math.max(...scores);
  const log_sum_exp = largest + Math.log(scores.reduce((sum, score) => sum + Math.exp(score - largest), 0));
  return { weights: scores.map((score) => Math.exp(score - log_sum_exp)), log_sum_exp };
}

export function attentionForward(qkv: Values, shape: AttentionShape): { out: Values; log_sum_exp: Values } {
  const { batch, ctx, heads, width } = shape;
  const size = width / heads;
  const out = values(batch * ctx * width);
  const log_sum_exp = values(batch * heads * ctx);
  for (let sequence = 0; sequence < batch; sequence += 1) {
    for (let head = 0; head < heads; head += 1) {
      for (let row = 0; row < ctx; row += 1) {
        const attended = attentionRow(qkv, shape, sequence, head, row);
        log_sum_exp[(sequence * heads + head) * ctx + row] = attended.log_sum_exp;
        attended.weights.forEach((weight, key) => {
          const value_at = (sequence * ctx + key) * 3 * width + 2 * width + head * size;
          for (let i = 0; i < size; i += 1) {
            out[(sequence * ctx + row) * width + head * size + i]! += weight * qkv[value_at + i]!;
          }
        });
      }
    }
  }
  return { out, log_sum_exp };
}

export function attentionBackward(qkv: Values, d_out: Values, shape: AttentionShape): Values {
  const { batch, ctx, heads, width } = shape;
  const size = width / heads;
  const d_qkv = values(qkv.length);
  for (let sequence = 0; sequence < batch; sequence += 1) {
    for (let head = 0; head < heads; head += 1) {
      for (let row = 0; row < ctx; row += 1) {
        const { weights } = attentionRow(qkv, shape, sequence, head, row);
        const out_at = (sequence * ctx + row) * width + head * size;
        const at = (token: number, part: number) => (sequence * ctx + token) * 3 * width + part * width + head * size;
        const d_weights = weights.map((_, key) => {
          let sum = 0;
          for (let i = 0; i < size; i += 1) sum += d_out[out_at + i]! * qkv[at(key, 2) + i]!;
          return sum;
        });
        const mean = weights.reduce((sum, weight, key) => sum + weight * d_weights[key]!, 0);
        weights.forEach((weight, key) => {
          const d_score = (weight * (d_weights[key]! - mean)) / Math.sqrt(size);
          for (let i = 0; i < size; i += 1) {
            d_qkv[at(row, 0) + i]! += d_score * qkv[at(key, 1) + i]!;
            d_qkv[at(key, 1) + i]! += d_score * qkv[at(row, 0) + i]!;
            d_qkv[at(key, 2) + i]! += weight * d_out[out_at + i]!;
          }
        });
      }
    }
  }
  return d_qkv;
}

/** Per-row losses, and the gradient of their mean to the logits. */
export function crossEntropy(logits: Values, targets: ArrayLike<number>, vocabulary = 256): { row_loss: Values; d_logits: Values } {
  const rows = targets.length;
  const row_loss = values(rows);
  const d_logits = values(logits.length);
  for (let row = 0; row < rows; row += 1) {
    const own = logits.subarray(row * vocabulary, (row + 1) * vocabulary);
    const largest = own.reduce((most, v) => Math.max(most, v), -Infinity);
    const log_sum = largest + Math.log(own.reduce((sum, v) => sum + Math.exp(v - largest), 0));
    row_loss[row] = log_sum - own[targets[row]!]!;
    own.forEach((v, i) => {
      d_logits[row * vocabulary + i] = (Math.exp(v - log_sum) - (i === targets[row] ? 1 : 0)) / rows;
    });
  }
  return { row_loss, d_logits };
}

/** The sum of partial gradients, `extra` being added to the first ones, and its sum of squares. */
export function gradientNorm(slots: Values[], extra: Values): { gradients: Values; squares: number } {
  const gradients = slots.reduce((sum, slot) => add(sum, slot));
  extra.forEach((v, i) => {
    gradients[i]! += v;
  });
  return { gradients, squares: gradients.reduce((sum, v) => sum + v * v, 0) };
}

export interface AdamwState {
  parameters: Values;
  first_moment: Values;
  second_moment: Values;
}

/** Clip to global norm 1, then AdamW with the constants of the model; `step` counts from 1. */
export function adamw(state: AdamwState, gradients: Values, squares: number, step: number, decays: (index: number) => boolean): AdamwState {
  const clip = Math.min(1, 1 / Math.sqrt(squares));
  const [rate, beta_1, beta_2] = [3e-4, 0.9, 0.95];
  const first_moment = state.first_moment.map((m, i) => beta_1 * m + (1 - beta_1) * gradients[i]! * clip);
  const second_moment = state.second_moment.map((v, i) => beta_2 * v + (1 - beta_2) * (gradients[i]! * clip) ** 2);
  const parameters = state.parameters.map((p, i) => {
    const m = first_moment[i]! / (1 - beta_1 ** step);
    const v = second_moment[i]! / (1 - beta_2 ** step);
    return p * (1 - (decays(i) ? rate * 0.1 : 0)) - (rate * m) / (Math.sqrt(v) + 1e-8);
  });
  return { parameters, first_moment, second_moment };
}
