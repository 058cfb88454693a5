// Mean cross-entropy over TOKENS rows of 256 logits, fused with its gradient:
//   row_loss = log(sum exp(logits)) - logits[target];  logits <- (softmax(logits) - one_hot(target)) / TOKENS.
//
// Bindings: batch (words; targets from TARGETS_AT on), logits[TOKENS, 256] (replaced by their gradient), row_loss[TOKENS].
//   One workgroup a row, four logits an invocation.
// Reference: tests/kernels/reference.ts, crossEntropy; cross_entropy_naive.wgsl.

override TOKENS: u32;
override TARGETS_AT: u32;

const THREADS = 64u;

@group(0) @binding(0) var<storage, read> batch: array<u32>;
@group(0) @binding(1) var<storage, read_write> logits: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> row_loss: array<f32>;

var<workgroup> maxima: array<f32, THREADS>;
var<workgroup> sums: array<f32, THREADS>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_index) local: u32) {
  let row = workgroup.x + workgroup.y * workgroups.x;
  if (row >= TOKENS) { return; }
  let own = logits[row * 64u + local];
  maxima[local] = max(max(own.x, own.y), max(own.z, own.w));
  workgroupBarrier();
  var largest4 = vec4f(maxima[0], maxima[1], maxima[2], maxima[3]);
  for (var i = 4u; i < THREADS; i += 4u) {
    largest4 = max(largest4, vec4f(maxima[i], maxima[i + 1u], maxima[i + 2u], maxima[i + 3u]));
  }
  let largest = max(max(largest4.x, largest4.y), max(largest4.z, largest4.w));
  let weights = exp(own - largest);
  sums[local] = (weights.x + weights.y) + (weights.z + weights.w);
  workgroupBarrier();
  var sum4 = vec4f();
  for (var i = 0u; i < THREADS; i += 4u) {
    sum4 += vec4f(sums[i], sums[i + 1u], sums[i + 2u], sums[i + 3u]);
  }
  let sum = (sum4.x + sum4.y) + (sum4.z + sum4.w);
  let target_token = batch[TARGETS_AT + row];
  let hot = vec4f(vec4u(local * 4u, local * 4u + 1u, local * 4u + 2u, local * 4u + 3u) == vec4u(target_token));
  logits[row * 64u + local] = (weights / sum - hot) * (1.0 / f32(TOKENS));
  if (target_token / 4u == local) { row_loss[row] = log(sum) + largest - dot(hot, own); }
}
