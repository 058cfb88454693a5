// The check of adamw.wgsl, one parameter an invocation, each adding up the partial squares itself; any SIZE.
//
// Shapes, bindings and overrides: as there. Reference: tests/kernels/reference.ts, adamw.

override SIZE: u32;
override PARTIALS: u32;
override TOKENS: u32;
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

@group(0) @binding(0) var<storage, read_write> parameters: array<f32>;
@group(0) @binding(1) var<storage, read_write> first_moment: array<f32>;
@group(0) @binding(2) var<storage, read_write> second_moment: array<f32>;
@group(0) @binding(3) var<storage, read> gradients: array<f32>;
@group(0) @binding(4) var<storage, read> partial_squares: array<f32>;
@group(0) @binding(5) var<storage, read> batch: array<u32>;
@group(0) @binding(6) var<storage, read> row_loss: array<f32>;
@group(0) @binding(7) var<storage, read_write> result: array<f32>;

fn decays(at: u32) -> bool {
  if (at < FIRST_LAYER_AT) { return at < DECAY_0_END; }
  if (at >= FIRST_LAYER_AT + LAYERS * LAYER_STRIDE) { return false; }
  let inside = (at - FIRST_LAYER_AT) % LAYER_STRIDE;
  return (inside >= DECAY_1_BEGIN && inside < DECAY_1_END) || (inside >= DECAY_2_BEGIN && inside < DECAY_2_END)
    || (inside >= DECAY_3_BEGIN && inside < DECAY_3_END) || (inside >= DECAY_4_BEGIN && inside < DECAY_4_END);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_index) local: u32) {
  let i = (workgroup.x + workgroup.y * workgroups.x) * 64u + local;
  if (i >= SIZE) { return; }
  var squares = 0.0;
  for (var j = 0u; j < PARTIALS; j++) { squares += partial_squares[j]; }
  let norm = sqrt(squares);
  if (i == 0u) {
    var loss = 0.0;
    for (var j = 0u; j < TOKENS; j++) { loss += row_loss[j]; }
    result[0] = loss / f32(TOKENS);
    result[1] = norm;
  }
  let gradient = gradients[i] * select(1.0, CLIP / norm, norm > CLIP);
  let m = BETA_1 * first_moment[i] + (1.0 - BETA_1) * gradient;
  let v = BETA_2 * second_moment[i] + (1.0 - BETA_2) * gradient * gradient;
  first_moment[i] = m;
  second_moment[i] = v;
  let kept = select(1.0, 1.0 - LEARNING_RATE * DECAY, decays(i));
  let denominator = sqrt(v * bitcast<f32>(batch[1])) + EPSILON;
  parameters[i] = parameters[i] * kept - LEARNING_RATE * bitcast<f32>(batch[0]) * m / denominator;
}
