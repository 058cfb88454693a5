// The check of cross_entropy.wgsl, one row an invocation.
//
// Shapes, bindings and overrides: as there. Reference: tests/kernels/reference.ts, crossEntropy.

override TOKENS: u32;
override TARGETS_AT: u32;

@group(0) @binding(0) var<storage, read> batch: array<u32>;
@group(0) @binding(1) var<storage, read_write> logits: array<f32>;
@group(0) @binding(2) var<storage, read_write> row_loss: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_index) local: u32) {
  let row = (workgroup.x + workgroup.y * workgroups.x) * 64u + local;
  if (row >= TOKENS) { return; }
  let start = row * 256u;
  var largest = logits[start];
  for (var i = 1u; i < 256u; i++) { largest = max(largest, logits[start + i]); }
  var sum = 0.0;
  for (var i = 0u; i < 256u; i++) { sum += exp(logits[start + i] - largest); }
  let target_token = batch[TARGETS_AT + row];
  row_loss[row] = log(sum) + largest - logits[start + target_token];
  for (var i = 0u; i < 256u; i++) {
    let hot = select(0.0, 1.0, i == target_token);
    logits[start + i] = (exp(logits[start + i] - largest) / sum - hot) / f32(TOKENS);
  }
}
