// The check of layer_norm_backward.wgsl, one row an invocation; any WIDTH.
//
// Shapes, bindings and overrides: as there. Reference: tests/kernels/reference.ts, layerNormBackward.

override ROWS: u32;
override WIDTH: u32;
override HAS_RESIDUAL: bool = true;

@group(0) @binding(0) var<storage, read> dy: array<f32>;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> statistics: array<vec2f>;
@group(0) @binding(3) var<storage, read> gain: array<f32>;
@group(0) @binding(4) var<storage, read> residual: array<f32>;
@group(0) @binding(5) var<storage, read_write> dx: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_index) local: u32) {
  let row = (workgroup.x + workgroup.y * workgroups.x) * 64u + local;
  if (row >= ROWS) { return; }
  let mean = statistics[row].x;
  let scale = statistics[row].y;
  var first = 0.0;
  var second = 0.0;
  for (var i = 0u; i < WIDTH; i++) {
    let scaled = dy[row * WIDTH + i] * gain[i];
    first += scaled;
    second += scaled * (x[row * WIDTH + i] - mean) * scale;
  }
  first /= f32(WIDTH);
  second /= f32(WIDTH);
  for (var i = 0u; i < WIDTH; i++) {
    let at = row * WIDTH + i;
    var result = scale * (dy[at] * gain[i] - first - (x[at] - mean) * scale * second);
    if (HAS_RESIDUAL) { result += residual[at]; }
    dx[at] = result;
  }
}
