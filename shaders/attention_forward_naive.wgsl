// The check of attention_forward.wgsl: one result an invocation, scores computed again for each; any head size.
//
// Shapes, bindings and overrides: as there, without the tile's. Reference: tests/kernels/reference.ts, attentionForward.

override BATCH: u32;
override CTX: u32;
override HEADS: u32;
override WIDTH: u32;

override HEAD_SIZE: u32 = WIDTH / HEADS;

@group(0) @binding(0) var<storage, read> qkv: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@group(0) @binding(2) var<storage, read_write> log_sum_exp: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_index) local: u32) {
  let index = (workgroup.x + workgroup.y * workgroups.x) * 64u + local;
  if (index >= BATCH * CTX * WIDTH) { return; }
  let column = index % WIDTH;
  let token = index / WIDTH;
  let row = token % CTX;
  let head_at = (column / HEAD_SIZE) * HEAD_SIZE;
  let first_token = token - row;
  let scale = 1.0 / sqrt(f32(HEAD_SIZE));
  var maximum = -1e30;
  var weight_sum = 0.0;
  var sum = 0.0;
  for (var key = 0u; key <= row; key++) {
    let key_at = (first_token + key) * 3u * WIDTH;
    var score = 0.0;
    for (var i = 0u; i < HEAD_SIZE; i++) {
      score += qkv[token * 3u * WIDTH + head_at + i] * qkv[key_at + WIDTH + head_at + i];
    }
    score *= scale;
    let larger = max(maximum, score);
    let correction = exp(maximum - larger);
    let weight = exp(score - larger);
    weight_sum = weight_sum * correction + weight;
    sum = sum * correction + weight * qkv[key_at + 2u * WIDTH + column];
    maximum = larger;
  }
  out[index] = sum / weight_sum;
  if (column == head_at) {
    let head = column / HEAD_SIZE;
    log_sum_exp[((token / CTX) * HEADS + head) * CTX + row] = maximum + log(weight_sum);
  }
}
