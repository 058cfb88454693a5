// The check of embed_backward.wgsl, one number an invocation, scanning every position of the batch; any WIDTH.
//
// Shapes, bindings and overrides: as there, and TOKENS_AT for the tokens in batch.
// Reference: tests/kernels/reference.ts, embedBackward.

override TOKENS: u32;
override CTX: u32;
override WIDTH: u32;
override TOKENS_AT: u32;
override RESULT_AT: u32;
override POSITIONS_AT: u32;

@group(0) @binding(0) var<storage, read> batch: array<u32>;
@group(0) @binding(1) var<storage, read> dx: array<f32>;
@group(0) @binding(2) var<storage, read_write> gradients: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_index) local: u32) {
  let index = (workgroup.x + workgroup.y * workgroups.x) * 64u + local;
  if (index >= (256u + CTX) * WIDTH) { return; }
  let row = index / WIDTH;
  let column = index % WIDTH;
  var sum = 0.0;
  for (var i = 0u; i < TOKENS; i++) {
    let uses = select(i % CTX == row - 256u, batch[TOKENS_AT + i] == row, row < 256u);
    if (uses) { sum += dx[i * WIDTH + column]; }
  }
  if (row < 256u) {
    gradients[RESULT_AT + row * WIDTH + column] = sum;
  } else {
    gradients[POSITIONS_AT + (row - 256u) * WIDTH + column] = sum;
  }
}
