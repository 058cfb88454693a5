// The check of layer_norm_forward.wgsl, one row an invocation; any WIDTH.
//
// Shapes, bindings and overrides: as there. Reference: tests/kernels/reference.ts, layerNormForward.

override ROWS: u32;
override WIDTH: u32;

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> gain: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;
@group(0) @binding(4) var<storage, read_write> statistics: array<vec2f>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_index) local: u32) {
  let row = (workgroup.x + workgroup.y * workgroups.x) * 64u + local;
  if (row >= ROWS) { return; }
  var mean = 0.0;
  for (var i = 0u; i < WIDTH; i++) { mean += x[row * WIDTH + i]; }
  mean /= f32(WIDTH);
  var variance = 0.0;
  for (var i = 0u; i < WIDTH; i++) {
    let centred = x[row * WIDTH + i] - mean;
    variance += centred * centred;
  }
  let scale = 1.0 / sqrt(variance / f32(WIDTH) + 1e-5);
  for (var i = 0u; i < WIDTH; i++) {
    out[row * WIDTH + i] = (x[row * WIDTH + i] - mean) * scale * gain[i] + bias[i];
  }
  statistics[row] = vec2f(mean, scale);
}
