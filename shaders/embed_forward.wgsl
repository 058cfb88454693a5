// x[token, WIDTH] = token_embedding[tokens[token]] + position_embedding[token mod CTX].
//
// Bindings: batch (words; tokens from TOKENS_AT on), token_embedding[256, WIDTH], position_embedding[CTX, WIDTH],
//   x[TOKENS, WIDTH]. WIDTH is a multiple of 4.
// Reference: tests/kernels/reference.ts, embedForward; embed_forward_naive.wgsl.

override TOKENS: u32;
override CTX: u32;
override WIDTH: u32;
override TOKENS_AT: u32;

override WIDTH4: u32 = WIDTH / 4u;

@group(0) @binding(0) var<storage, read> batch: array<u32>;
@group(0) @binding(1) var<storage, read> token_embedding: array<vec4f>;
@group(0) @binding(2) var<storage, read> position_embedding: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> x: array<vec4f>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_index) local: u32) {
  let index = (workgroup.x + workgroup.y * workgroups.x) * 64u + local;
  if (index >= TOKENS * WIDTH4) { return; }
  let row = index / WIDTH4;
  let column = index % WIDTH4;
  let token = batch[TOKENS_AT + row];
  x[index] = token_embedding[token * WIDTH4 + column] + position_embedding[(row % CTX) * WIDTH4 + column];
}
