// Clip by the global norm, then AdamW, over the flat vectors; also adds up the loss. Second half of the update.
//
// Bindings: parameters[SIZE], first_moment[SIZE], second_moment[SIZE], gradients[SIZE], partial_squares[PARTIALS], batch
//   (words 0 and 1: 1 / (1 - beta1^t) and 1 / (1 - beta2^t) as f32 bits), row_loss[TOKENS], result (loss, gradient norm).
//   Decay applies to the embeddings (below DECAY_0_END) and, in each layer, to the four ranges DECAY_1 .. DECAY_4 of floats.
//   All offsets are multiples of 4.
// Reference: tests/kernels/reference.ts, adamw; adamw_naive.wgsl.

override SIZE: u32;
override PARTIALS: u32;
override TOKENS: u32;
override GROUPS: u32;
override DECAY_0_END: u32;
override FIRST_LAYER_AT: u32;
override LAYERS: u32;
override LAYER_STRIDE: u32;
override DECAY_1_BEGIN: u32;
override DECAY_1_END: u32;
override DECAY_2_BEGIN: u32;
override DECAY_2_END: u32;
override DECAY_3_BEGIN: u32;
override DECAY_3_END: u32;
override DECAY_4_BEGIN: u32;
override DECAY_4_END: u32;
override LEARNING_RATE: f32 = 3e-4;
override BETA_1: f32 = 0.9;
override BETA_2: f32 = 0.95;
override EPSILON: f32 = 1e-8;
override DECAY: f32 = 0.1;
override CLIP: f32 = 1.0;

const THREADS = 256u;

@group(0) @binding(0) var<storage, read_write> parameters: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> first_moment: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> second_moment: array<vec4f>;
@group(0) @binding(3) var<storage, read> gradients: array<vec4f>;
@group(0) @binding(4) var<storage, read> partial_squares: array<f32>;
@group(0) @binding(5) var<storage, read> batch: array<u32>;
@group(0) @binding(6) var<storage, read> row_loss: array<f32>;
@group(0) @binding(7) var<storage, read_write> result: array<f32>;

var<workgroup> scratch: array<f32, THREADS>;

fn workgroup_sum(value: f32, local: u32) -> f32 {
  scratch[local] = value;
  for (var half = THREADS / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (local < half) { scratch[local] += scratch[local + half]; }
  }
  let sum = workgroupUniformLoad(&scratch[0]);
  return sum;
}

fn decays(at: u32) -> bool {
  if (at < FIRST_LAYER_AT) { return at < DECAY_0_END; }
  if (at >= FIRST_LAYER_AT + LAYERS * LAYER_STRIDE) { return false; }
  let inside = (at - FIRST_LAYER_AT) % LAYER_STRIDE;
  return (inside >= DECAY_1_BEGIN && inside < DECAY_1_END) || (inside >= DECAY_2_BEGIN && inside < DECAY_2_END)
    || (inside >= DECAY_3_BEGIN && inside < DECAY_3_END) || (inside >= DECAY_4_BEGIN && inside < DECAY_4_END);
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) local: u32) {
  var squares = 0.0;
  for (var i = local; i < PARTIALS; i += THREADS) { squares += partial_squares[i]; }
  let norm = sqrt(workgroup_sum(squares, local));
  if (workgroup.x == 0u) {
    var loss = 0.0;
    for (var i = local; i < TOKENS; i += THREADS) { loss += row_loss[i]; }
    loss = workgroup_sum(loss, local) / f32(TOKENS);
    if (local == 0u) {
      result[0] = loss;
      result[1] = norm;
    }
  }
  let clip = select(1.0, CLIP / norm, norm > CLIP);
  let step_size = LEARNING_RATE * bitcast<f32>(batch[0]);
  let correction_2 = bitcast<f32>(batch[1]);
  for (var i = workgroup.x * THREADS + local; i < SIZE / 4u; i += GROUPS * THREADS) {
    let gradient = gradients[i] * clip;
    let m = BETA_1 * first_moment[i] + (1.0 - BETA_1) * gradient;
    let v = BETA_2 * second_moment[i] + (1.0 - BETA_2) * gradient * gradient;
    first_moment[i] = m;
    second_moment[i] = v;
    let kept = select(1.0, 1.0 - LEARNING_RATE * DECAY, decays(i * 4u));
    parameters[i] = parameters[i] * kept - step_size * m / (sqrt(v * correction_2) + EPSILON);
  }
}
