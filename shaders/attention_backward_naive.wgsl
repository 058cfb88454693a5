// The check of attention_backward.wgsl: one result an invocation, scores computed again for each; any head size.
//
// Shapes, bindings and overrides: as there, without the tile's. Reference: tests/kernels/reference.ts, attentionBackward.

override BATCH: u32;
override CTX: u32;
override HEADS: u32;
override WIDTH: u32;

override HEAD_SIZE: u32 = WIDTH / HEADS;

@group(0) @binding(0) var<storage, read> qkv: array<f32>;
@group(0) @binding(1) var<storage, read> out: array<f32>;
@group(0) @binding(2) var<storage, read> log_sum_exp: array<f32>;
@group(0) @binding(3) var<storage, read> d_out: array<f32>;
@group(0) @binding(4) var<storage, read_write> d_qkv: array<f32>;

/// The softmax weight of one pair, and the gradient of its scaled score.
fn pair(query_token: u32, key_token: u32, head_at: u32) -> vec2f {
  var score = 0.0;
  var d_weight = 0.0;
  var delta = 0.0;
  for (var i = head_at; i < head_at + HEAD_SIZE; i++) {
    let upstream = d_out[query_token * WIDTH + i];
    score += qkv[query_token * 3u * WIDTH + i] * qkv[key_token * 3u * WIDTH + WIDTH + i];
    d_weight += upstream * qkv[key_token * 3u * WIDTH + 2u * WIDTH + i];
    delta += upstream * out[query_token * WIDTH + i];
  }
  let head = head_at / HEAD_SIZE;
  let row = query_token % CTX;
  let weight = exp(score / sqrt(f32(HEAD_SIZE)) - log_sum_exp[((query_token / CTX) * HEADS + head) * CTX + row]);
  return vec2f(weight, weight * (d_weight - delta));
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_index) local: u32) {
  let index = (workgroup.x + workgroup.y * workgroups.x) * 64u + local;
  if (index >= BATCH * CTX * WIDTH) { return; }
  let column = index % WIDTH;
  let token = index / WIDTH;
  let row = token % CTX;
  let first_token = token - row;
  let head_at = (column / HEAD_SIZE) * HEAD_SIZE;
  let scale = 1.0 / sqrt(f32(HEAD_SIZE));
  var d_query = 0.0;
  for (var key = first_token; key <= token; key++) {
    d_query += pair(token, key, head_at).y * qkv[key * 3u * WIDTH + WIDTH + column];
  }
  var d_key = 0.0;
  var d_value = 0.0;
  for (var query = token; query < first_token + CTX; query++) {
    let p = pair(query, token, head_at);
    d_key += p.y * qkv[query * 3u * WIDTH + column];
    d_value += p.x * d_out[query * WIDTH + column];
  }
  d_qkv[token * 3u * WIDTH + column] = d_query * scale;
  d_qkv[token * 3u * WIDTH + WIDTH + column] = d_key * scale;
  d_qkv[token * 3u * WIDTH + 2u * WIDTH + column] = d_value;
}
