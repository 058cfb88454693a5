// The check of embed_forward.wgsl, one number an invocation; any WIDTH.
//
// Shapes, bindings and overrides: as there. Reference: tests/kernels/reference.ts, embedForward.

override TOKENS: u32;
override CTX: u32;
override WIDTH: u32;
override TOKENS_AT: u32;

@group(0) @binding(0) var<storage, read> batch: array<u32>;
@group(0) @binding(1) var<storage, read> token_embedding: array<f32>;
@group(0) @binding(2) var<storage, read> position_embedding: array<f32>;
@group(0) @binding(3) var<storage, read_write> x: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_index) local: u32) {
  let index = (workgroup.x + workgroup.y * workgroups.x) * 64u + local;
  if (index >= TOKENS * WIDTH) { return; }
  let row = index / WIDTH;
  let column = index % WIDTH;
  x[index] = token_embedding[batch[TOKENS_AT + row] * WIDTH + column] + position_embedding[(row % CTX) * WIDTH + column];
}
