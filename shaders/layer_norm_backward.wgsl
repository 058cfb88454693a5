// Layer normalisation, backward to its input, added to the gradient that went around it (sums in shared memory):
//   dx = residual + scale * (dy gain - mean(dy gain) - n mean(dy gain n)), n = (x - mean) scale.
//
// Bindings: dy[ROWS, WIDTH], x[ROWS, WIDTH], statistics[ROWS] (mean, scale), gain[WIDTH], residual[ROWS, WIDTH],
//   dx[ROWS, WIDTH]. One workgroup a row. WIDTH is a multiple of 4. HAS_RESIDUAL false leaves the residual out.
// Reference: tests/kernels/reference.ts, layerNormBackward; layer_norm_backward_naive.wgsl.

override ROWS: u32;
override WIDTH: u32;
override HAS_RESIDUAL: bool = true;

override WIDTH4: u32 = WIDTH / 4u;
const THREADS = 64u;

@group(0) @binding(0) var<storage, read> dy: array<vec4f>;
@group(0) @binding(1) var<storage, read> x: array<vec4f>;
@group(0) @binding(2) var<storage, read> statistics: array<vec2f>;
@group(0) @binding(3) var<storage, read> gain: array<vec4f>;
@group(0) @binding(4) var<storage, read> residual: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> dx: array<vec4f>;

var<workgroup> scratch: array<f32, 2u * THREADS>;

/// The sum over the workgroup, the same in every invocation. `slot` names scratch no other call of this run uses.
fn workgroup_sum(value: f32, slot: u32, local: u32) -> f32 {
  scratch[slot * THREADS + local] = value;
  workgroupBarrier();
  var sum = vec4f();
  for (var i = slot * THREADS; i < (slot + 1u) * THREADS; i += 4u) {
    sum += vec4f(scratch[i], scratch[i + 1u], scratch[i + 2u], scratch[i + 3u]);
  }
  return (sum.x + sum.y) + (sum.z + sum.w);
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_index) local: u32) {
  let row = workgroup.x + workgroup.y * workgroups.x;
  if (row >= ROWS) { return; }
  let start = row * WIDTH4;
  let mean = statistics[row].x;
  let scale = statistics[row].y;
  var sum = 0.0;
  var sum_normalised = 0.0;
  for (var i = local; i < WIDTH4; i += THREADS) {
    let scaled = dy[start + i] * gain[i];
    sum += dot(scaled, vec4f(1.0));
    sum_normalised += dot(scaled, (x[start + i] - mean) * scale);
  }
  let first = workgroup_sum(sum, 0u, local) / f32(WIDTH);
  let second = workgroup_sum(sum_normalised, 1u, local) / f32(WIDTH);
  for (var i = local; i < WIDTH4; i += THREADS) {
    let normalised = (x[start + i] - mean) * scale;
    var result = scale * (dy[start + i] * gain[i] - first - normalised * second);
    if (HAS_RESIDUAL) { result += residual[start + i]; }
    dx[start + i] = result;
  }
}
