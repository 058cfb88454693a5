// Matrix product with an epilogue, one result an invocation: the check of gemm_4x4.wgsl and gemm_8x8.wgsl, and the
// product for widths that are no multiple of 4.
//
// Shapes, bindings and overrides: as in gemm_4x4.wgsl, without the tile's.
// Reference: tests/kernels/reference.ts, gemm.

override M: u32;
override N: u32;
override K: u32;
override TRANS_A: bool = false;
override TRANS_B: bool = false;
override EPILOGUE: u32 = 0u;
override LAYERS: u32 = 1u;
override SPLITS: u32 = 1u;
override K_PER_SPLIT: u32 = K;
override A_LAYER_STRIDE: u32 = 0u;
override B_LAYER_STRIDE: u32 = 0u;
override C_BASE: u32 = 0u;
override C_LAYER_STRIDE: u32 = 0u;
override C_SPLIT_STRIDE: u32 = 0u;
override COLUMN_SUMS: bool = false;
override COLUMN_SUMS_BASE: u32 = 0u;

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read> extra: array<f32>;
@group(0) @binding(4) var<storage, read_write> c: array<f32>;
@group(0) @binding(5) var<storage, read_write> pre_activation: array<f32>;

fn hyperbolic_tangent(x: f32) -> f32 {
  return tanh(clamp(x, -15.0, 15.0));
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_index) local: u32) {
  let index = (workgroup.x + workgroup.y * workgroups.x) * 64u + local;
  let column = index % N;
  let row = (index / N) % M;
  let split = (index / (N * M)) % SPLITS;
  let layer = index / (N * M * SPLITS);
  if (layer >= LAYERS) { return; }
  let k_begin = split * K_PER_SPLIT;
  let k_end = min(K, k_begin + K_PER_SPLIT);
  var sum = 0.0;
  var column_sum = 0.0;
  for (var k = k_begin; k < k_end; k++) {
    let left = a[layer * A_LAYER_STRIDE + select(row * K + k, k * M + row, TRANS_A)];
    let right = b[layer * B_LAYER_STRIDE + select(k * N + column, column * K + k, TRANS_B)];
    sum += left * right;
    column_sum += right;
  }
  let at = row * N + column;
  if (EPILOGUE == 1u || EPILOGUE == 2u || EPILOGUE == 3u) { sum += bias[column]; }
  if (EPILOGUE == 2u) {
    pre_activation[at] = sum;
    sum = 0.5 * sum * (1.0 + hyperbolic_tangent(0.7978845608028654 * (sum + 0.044715 * sum * sum * sum)));
  }
  if (EPILOGUE == 3u) { sum += extra[at]; }
  if (EPILOGUE == 4u) {
    let x = extra[at];
    let t = hyperbolic_tangent(0.7978845608028654 * (x + 0.044715 * x * x * x));
    sum *= 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * 0.7978845608028654 * (1.0 + 0.134145 * x * x);
  }
  let offset = layer * C_LAYER_STRIDE + split * C_SPLIT_STRIDE;
  c[C_BASE + offset + at] = sum;
  if (COLUMN_SUMS && row == 0u) { c[COLUMN_SUMS_BASE + offset + column] = column_sum; }
}
