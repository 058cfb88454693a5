// Gradients of every layer normalisation's gain and bias: column sums over the rows of dy n and of dy, all 2 LAYERS + 1
// normalisations in one dispatch, after the backward chain, in a fixed order.
//
// Normalisations are numbered as they run: 2 l before attention of layer l, 2 l + 1 before its MLP, 2 LAYERS the last.
// Bindings: block_input[LAYERS + 1, ROWS, WIDTH] (the even ones' input), middle[LAYERS, ROWS, WIDTH] (the odd ones'),
//   dy[2 LAYERS + 1, ROWS, WIDTH], statistics[2 LAYERS + 1, ROWS], gradients (flat, from float offset 0).
//   X_STRIDE and STATISTICS_STRIDE: floats from one layer, or normalisation, to the next. A gain's bias follows WIDTH_PADDED
//   floats after it. WIDTH is a multiple of 4.
// Reference: tests/kernels/reference.ts, layerNormParameters; layer_norm_parameters_naive.wgsl.

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

override WIDTH4: u32 = WIDTH / 4u;
/// A workgroup is LANES columns of four by ROW_LANES rows.
const LANES = 8u;
const ROW_LANES = 32u;

@group(0) @binding(0) var<storage, read> block_input: array<vec4f>;
@group(0) @binding(1) var<storage, read> middle: array<vec4f>;
@group(0) @binding(2) var<storage, read> dy: array<vec4f>;
@group(0) @binding(3) var<storage, read> statistics: array<vec2f>;
@group(0) @binding(4) var<storage, read_write> gradients: array<vec4f>;

var<workgroup> partial_gain: array<vec4f, LANES * ROW_LANES>;
var<workgroup> partial_bias: array<vec4f, LANES * ROW_LANES>;

@compute @workgroup_size(LANES * ROW_LANES)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_index) local: u32) {
  let blocks = (WIDTH4 + LANES - 1u) / LANES;
  let group = workgroup.x + workgroup.y * workgroups.x;
  if (group >= (2u * LAYERS + 1u) * blocks) { return; }
  let norm = group / blocks;
  let column = (group % blocks) * LANES + local % LANES;
  let lane_row = local / LANES;
  let layer = norm / 2u;
  let x_start = layer * (X_STRIDE / 4u) + column;
  let dy_start = norm * (X_STRIDE / 4u) + column;
  let statistics_start = norm * (STATISTICS_STRIDE / 2u);
  var gain = vec4f();
  var bias = vec4f();
  if (column < WIDTH4) {
    if (norm % 2u == 0u) {
      for (var row = lane_row; row < ROWS; row += ROW_LANES) {
        let s = statistics[statistics_start + row];
        let d = dy[dy_start + row * WIDTH4];
        gain += d * (block_input[x_start + row * WIDTH4] - s.x) * s.y;
        bias += d;
      }
    } else {
      for (var row = lane_row; row < ROWS; row += ROW_LANES) {
        let s = statistics[statistics_start + row];
        let d = dy[dy_start + row * WIDTH4];
        gain += d * (middle[x_start + row * WIDTH4] - s.x) * s.y;
        bias += d;
      }
    }
  }
  partial_gain[local] = gain;
  partial_bias[local] = bias;
  workgroupBarrier();
  if (lane_row != 0u || column >= WIDTH4) { return; }
  for (var i = 1u; i < ROW_LANES; i++) {
    gain += partial_gain[i * LANES + local];
    bias += partial_bias[i * LANES + local];
  }
  let in_layer = FIRST_LAYER_AT + layer * LAYER_STRIDE + select(0u, SECOND_NORM_AT, norm % 2u == 1u);
  let at = select(in_layer, LAST_NORM_AT, norm == 2u * LAYERS) / 4u + column;
  gradients[at] = gain;
  gradients[at + WIDTH_PADDED / 4u] = bias;
}
