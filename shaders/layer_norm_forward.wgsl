// Layer normalisation: out = (x - mean) / sqrt(variance + 1e-5) * gain + bias over rows of WIDTH numbers; sums in shared memory.
//
// Bindings: x[ROWS, WIDTH], gain[WIDTH], bias[WIDTH], out[ROWS, WIDTH], statistics[ROWS] (mean and 1 / deviation, for the
//   backward pass). One workgroup a row. WIDTH is a multiple of 4.
// Reference: tests/kernels/reference.ts, layerNormForward; layer_norm_forward_naive.wgsl.

override ROWS: u32;
override WIDTH: u32;

override WIDTH4: u32 = WIDTH / 4u;
const THREADS = 64u;

/// What `out` holds, on a line of its own, so that the half-precision arm can put vec4h here.
alias out_vector = vec4f;

@group(0) @binding(0) var<storage, read> x: array<vec4f>;
@group(0) @binding(1) var<storage, read> gain: array<vec4f>;
@group(0) @binding(2) var<storage, read> bias: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> out: array<out_vector>;
@group(0) @binding(4) var<storage, read_write> statistics: array<vec2f>;

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
  var sum = 0.0;
  for (var i = local; i < WIDTH4; i += THREADS) { sum += dot(x[start + i], vec4f(1.0)); }
  let mean = workgroup_sum(sum, 0u, local) / f32(WIDTH);
  var squares = 0.0;
  for (var i = local; i < WIDTH4; i += THREADS) {
    let centred = x[start + i] - mean;
    squares += dot(centred, centred);
  }
  let scale = inverseSqrt(workgroup_sum(squares, 1u, local) / f32(WIDTH) + 1e-5);
  for (var i = local; i < WIDTH4; i += THREADS) {
    out[start + i] = out_vector((x[start + i] - mean) * scale * gain[i] + bias[i]);
  }
  if (local == 0u) { statistics[row] = vec2f(mean, scale); }
}
