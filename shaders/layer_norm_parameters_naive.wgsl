// The check of layer_norm_parameters.wgsl, one column an invocation; any WIDTH.
//
// Shapes, bindings and overrides: as there. Reference: tests/kernels/reference.ts, layerNormParameters.

override ROWS: u32;
override WIDTH: u32;
override LAYERS: u32;
override X_STRIDE: u32;
override STATISTICS_STRIDE: u32;
override WIDTH_PADDED: u32;
override FIRST_LAYER_AT: u32;
override LAYER_STRIDE: u32;
override SECOND_NORM_AT: u32;
override LAST_NORM_AT: u32;

@group(0) @binding(0) var<storage, read> block_input: array<f32>;
@group(0) @binding(1) var<storage, read> middle: array<f32>;
@group(0) @binding(2) var<storage, read> dy: array<f32>;
@group(0) @binding(3) var<storage, read> statistics: array<vec2f>;
@group(0) @binding(4) var<storage, read_write> gradients: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_index) local: u32) {
  let index = (workgroup.x + workgroup.y * workgroups.x) * 64u + local;
  if (index >= (2u * LAYERS + 1u) * WIDTH) { return; }
  let norm = index / WIDTH;
  let column = index % WIDTH;
  let layer = norm / 2u;
  var gain = 0.0;
  var bias = 0.0;
  for (var row = 0u; row < ROWS; row++) {
    let s = statistics[norm * (STATISTICS_STRIDE / 2u) + row];
    let d = dy[norm * X_STRIDE + row * WIDTH + column];
    let at = layer * X_STRIDE + row * WIDTH + column;
    var x = 0.0;
    if (norm % 2u == 0u) { x = block_input[at]; } else { x = middle[at]; }
    gain += d * (x - s.x) * s.y;
    bias += d;
  }
  let in_layer = FIRST_LAYER_AT + layer * LAYER_STRIDE + select(0u, SECOND_NORM_AT, norm % 2u == 1u);
  let at = select(in_layer, LAST_NORM_AT, norm == 2u * LAYERS) + column;
  gradients[at] = gain;
  gradients[at + WIDTH_PADDED] = bias;
}
