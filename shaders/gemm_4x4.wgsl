// Matrix product with an epilogue: C[M, N] = epilogue(op(A)[M, K] x op(B)[K, N]), f32 sums, each invocation owns 4 x 4 results.
//
// Shapes: op(A) is A[M, K], or A[K, M] transposed (TRANS_A); op(B) is B[K, N], or B[N, K] transposed (TRANS_B). All rows
//   are contiguous; the contiguous dimension of every operand is a multiple of 4. A workgroup owns a tile of 4 TY x 4 TX
//   results; its SLICES teams of TX x TY invocations share each BK-deep tile of operands and add up at the end.
//   `LAYERS` products of one shape, and `SPLITS` ranges of K of each, run side by side in one dispatch.
// Bindings: a, b, bias[N], extra[M, N] (residual or pre-activation), c, pre_activation[M, N].
// Requires: TX * TY * SLICES invocations hold BK * (TX + TY) / 4 blocks, at most one each; BK a multiple of 8 and 4 SLICES;
//   TX and TY powers of 2; SLICES / 2 * TX * TY * 4 <= BUFFERS * BK * (TX + TY).
// Reference: tests/kernels/reference.ts, gemm; gemm_naive.wgsl computes the same with the same bindings.

override M: u32;
override N: u32;
override K: u32;
override TRANS_A: bool = false;
override TRANS_B: bool = false;
/// 0 none, 1 + bias, 2 gelu(x + bias) with the pre-activation kept, 3 + bias + extra, 4 * gelu'(extra).
override EPILOGUE: u32 = 0u;
override LAYERS: u32 = 1u;
override SPLITS: u32 = 1u;
override K_PER_SPLIT: u32 = K;
/// Offsets and strides count floats and are multiples of 4.
override A_LAYER_STRIDE: u32 = 0u;
override B_LAYER_STRIDE: u32 = 0u;
override C_BASE: u32 = 0u;
override C_LAYER_STRIDE: u32 = 0u;
override C_SPLIT_STRIDE: u32 = 0u;
/// Also writes the sums of B's columns (a bias gradient) into c from this offset on.
override COLUMN_SUMS: bool = false;
override COLUMN_SUMS_BASE: u32 = 0u;

override TX: u32 = 16u;
override TY: u32 = 16u;
override SLICES: u32 = 1u;
override BK: u32 = 16u;
/// With 2, one tile is filled while the other is used, and a round needs one barrier in place of two.
override BUFFERS: u32 = 1u;

override TEAM: u32 = TX * TY;
override THREADS: u32 = TEAM * SLICES;
override A_STRIDE: u32 = TY;
override B_STRIDE: u32 = TX;
/// Neighbours along k that read one row together, up to a whole 128-byte line, and how far a row of the tile is rotated
/// from one block of k to the next, so that what they store still spreads over the banks.
override RUN: u32 = min(8u, BK / 4u);
override ROTATION: u32 = 8u / RUN;
override B_START: u32 = BK * A_STRIDE;
override OPERANDS: u32 = BK * (A_STRIDE + B_STRIDE);
override A_BLOCKS: u32 = TY * BK / 4u;
override B_BLOCKS: u32 = TX * BK / 4u;
override TILES_M: u32 = (M + TY * 4u - 1u) / (TY * 4u);
override TILES_N: u32 = (N + TX * 4u - 1u) / (TX * 4u);
override GROUPS: u32 = TILES_M * TILES_N * SPLITS * LAYERS;

/// What each of these buffers holds, a line each, so that the half-precision arm can put vec4h here.
alias a_vector = vec4f;
alias b_vector = vec4f;
alias extra_vector = vec4f;
alias c_vector = vec4f;
alias pre_activation_vector = vec4f;

@group(0) @binding(0) var<storage, read> a: array<a_vector>;
@group(0) @binding(1) var<storage, read> b: array<b_vector>;
@group(0) @binding(2) var<storage, read> bias: array<vec4f>;
@group(0) @binding(3) var<storage, read> extra: array<extra_vector>;
@group(0) @binding(4) var<storage, read_write> c: array<c_vector>;
@group(0) @binding(5) var<storage, read_write> pre_activation: array<pre_activation_vector>;

/// Rows are k, each rotated as said above.
var<workgroup> tile: array<vec4f, BUFFERS * OPERANDS>;

/// Four values of k by four of m, one column of the result a k.
fn load_a(start: u32, m: u32, k: u32, k_end: u32) -> mat4x4f {
  var r0 = vec4f();
  var r1 = vec4f();
  var r2 = vec4f();
  var r3 = vec4f();
  if (TRANS_A) {
    let at = start + (k * M + m) / 4u;
    if (m < M) {
      if (k < k_end) { r0 = vec4f(a[at]); }
      if (k + 1u < k_end) { r1 = vec4f(a[at + M / 4u]); }
      if (k + 2u < k_end) { r2 = vec4f(a[at + 2u * (M / 4u)]); }
      if (k + 3u < k_end) { r3 = vec4f(a[at + 3u * (M / 4u)]); }
    }
    return mat4x4f(r0, r1, r2, r3);
  }
  let at = start + (m * K + k) / 4u;
  if (k < k_end) {
    if (m < M) { r0 = vec4f(a[at]); }
    if (m + 1u < M) { r1 = vec4f(a[at + K / 4u]); }
    if (m + 2u < M) { r2 = vec4f(a[at + 2u * (K / 4u)]); }
    if (m + 3u < M) { r3 = vec4f(a[at + 3u * (K / 4u)]); }
  }
  return transpose(mat4x4f(r0, r1, r2, r3));
}

/// Four values of k by four of n, one column of the result a k.
fn load_b(start: u32, n: u32, k: u32, k_end: u32) -> mat4x4f {
  var r0 = vec4f();
  var r1 = vec4f();
  var r2 = vec4f();
  var r3 = vec4f();
  if (TRANS_B) {
    let at = start + (n * K + k) / 4u;
    if (k < k_end) {
      if (n < N) { r0 = vec4f(b[at]); }
      if (n + 1u < N) { r1 = vec4f(b[at + K / 4u]); }
      if (n + 2u < N) { r2 = vec4f(b[at + 2u * (K / 4u)]); }
      if (n + 3u < N) { r3 = vec4f(b[at + 3u * (K / 4u)]); }
    }
    return transpose(mat4x4f(r0, r1, r2, r3));
  }
  let at = start + (k * N + n) / 4u;
  if (n < N) {
    if (k < k_end) { r0 = vec4f(b[at]); }
    if (k + 1u < k_end) { r1 = vec4f(b[at + N / 4u]); }
    if (k + 2u < k_end) { r2 = vec4f(b[at + 2u * (N / 4u)]); }
    if (k + 3u < k_end) { r3 = vec4f(b[at + 3u * (N / 4u)]); }
  }
  return mat4x4f(r0, r1, r2, r3);
}

struct Block {
  /// In units of four.
  along: u32,
  k: u32,
}

/// Which block an invocation loads. Where k is the contiguous dimension, RUN neighbours take one row's blocks of k.
fn place(index: u32, k_is_contiguous: bool, width: u32) -> Block {
  if (k_is_contiguous) {
    let run = index / RUN;
    return Block(run % width, index % RUN + RUN * (run / width));
  }
  return Block(index % width, index / width);
}

/// Which results an invocation of a team owns: x along n, y along m. Neighbours lie on a Z-shaped curve of 8 by 4 (4 by 4
/// where TX is 4), so that the 32 that run together read 8 and 4 different vectors of the tile, not 16 and 2, and pairs of
/// them read the same one: shared memory serves such a read in half the time.
fn seat(member: u32) -> vec2u {
  let low = vec2u(extractBits(member, 0u, 1u) + 2u * extractBits(member, 2u, 1u) + 4u * extractBits(member, 4u, 1u),
                  extractBits(member, 1u, 1u) + 2u * extractBits(member, 3u, 1u));
  let across = max(1u, TX / 8u);
  return low + vec2u(8u * (member / 32u % across), 4u * (member / 32u / across));
}

fn gelu(x: vec4f) -> vec4f {
  let u = clamp(0.7978845608028654 * (x + 0.044715 * x * x * x), vec4f(-15.0), vec4f(15.0));
  let t = 1.0 - 2.0 / (exp(2.0 * u) + 1.0);
  return 0.5 * x * (1.0 + t);
}

fn gelu_derivative(x: vec4f) -> vec4f {
  let u = clamp(0.7978845608028654 * (x + 0.044715 * x * x * x), vec4f(-15.0), vec4f(15.0));
  let t = 1.0 - 2.0 / (exp(2.0 * u) + 1.0);
  return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * 0.7978845608028654 * (1.0 + 0.134145 * x * x);
}

fn finish(start: u32, row: u32, column4: u32, value: vec4f) {
  if (row >= M || column4 >= N / 4u) { return; }
  let at = row * (N / 4u) + column4;
  var result = value;
  if (EPILOGUE == 1u) { result += bias[column4]; }
  if (EPILOGUE == 2u) {
    let before = value + bias[column4];
    pre_activation[at] = pre_activation_vector(before);
    result = gelu(before);
  }
  if (EPILOGUE == 3u) { result += bias[column4] + vec4f(extra[at]); }
  if (EPILOGUE == 4u) { result *= gelu_derivative(vec4f(extra[at])); }
  c[start + at] = c_vector(result);
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_index) local: u32) {
  let group = workgroup.x + workgroup.y * workgroups.x;
  if (group >= GROUPS) { return; }
  let tile_n = group % TILES_N;
  let tile_m = (group / TILES_N) % TILES_M;
  let split = (group / (TILES_N * TILES_M)) % SPLITS;
  let layer = group / (TILES_N * TILES_M * SPLITS);
  let slice = local / TEAM;
  let place_in_team = seat(local % TEAM);
  let tx = place_in_team.x;
  let ty = place_in_team.y;
  let m0 = tile_m * TY * 4u;
  let n0 = tile_n * TX * 4u;
  let a_start = layer * (A_LAYER_STRIDE / 4u);
  let b_start = layer * (B_LAYER_STRIDE / 4u);
  let sums_columns = COLUMN_SUMS && tile_m == 0u;
  let k_begin = split * K_PER_SPLIT;
  let k_end = min(K, k_begin + K_PER_SPLIT);

  let loads_a = local < A_BLOCKS;
  let loads_b = !loads_a && local < A_BLOCKS + B_BLOCKS;
  var block_along = 0u;
  var block_k = 0u;
  var store_at = 0u;
  if (loads_a) {
    let block = place(local, !TRANS_A, TY);
    block_along = m0 + block.along * 4u;
    block_k = block.k * 4u;
    store_at = block_k * A_STRIDE + (block.along + ROTATION * block.k) % A_STRIDE;
  } else if (loads_b) {
    let block = place(local - A_BLOCKS, TRANS_B, TX);
    block_along = n0 + block.along * 4u;
    block_k = block.k * 4u;
    store_at = B_START + block_k * B_STRIDE + (block.along + ROTATION * block.k) % B_STRIDE;
  }

  var c0 = vec4f();
  var c1 = vec4f();
  var c2 = vec4f();
  var c3 = vec4f();
  var column_sum = vec4f();
  let steps = (k_end - k_begin + BK - 1u) / BK;
  // Each round starts the loads of one tile, computes on the tile before it meanwhile, and then swaps.
  for (var round = 0u; round <= steps; round++) {
    let k0 = k_begin + round * BK;
    var fetched = mat4x4f();
    if (round < steps) {
      if (loads_a) {
        fetched = load_a(a_start, block_along, k0 + block_k, k_end);
      } else if (loads_b) {
        fetched = load_b(b_start, block_along, k0 + block_k, k_end);
      }
    }
    if (round > 0u) {
      let read_at = ((round + BUFFERS - 1u) % BUFFERS) * OPERANDS;
      for (var part = 0u; part < BK / SLICES / 4u; part++) {
        let block = slice * (BK / SLICES / 4u) + part;
        let a_at = read_at + block * 4u * A_STRIDE + (ty + ROTATION * block) % A_STRIDE;
        let b_at = read_at + B_START + block * 4u * B_STRIDE + (tx + ROTATION * block) % B_STRIDE;
        for (var k = 0u; k < 4u; k++) {
          let av = tile[a_at + k * A_STRIDE];
          let bv = tile[b_at + k * B_STRIDE];
          c0 = fma(vec4f(av.x), bv, c0);
          c1 = fma(vec4f(av.y), bv, c1);
          c2 = fma(vec4f(av.z), bv, c2);
          c3 = fma(vec4f(av.w), bv, c3);
          if (sums_columns) { column_sum += bv; }
        }
      }
    }
    if (BUFFERS == 1u) { workgroupBarrier(); }
    let write_at = (round % BUFFERS) * OPERANDS + store_at;
    if (loads_a) {
      tile[write_at] = fetched[0];
      tile[write_at + A_STRIDE] = fetched[1];
      tile[write_at + 2u * A_STRIDE] = fetched[2];
      tile[write_at + 3u * A_STRIDE] = fetched[3];
    } else if (loads_b) {
      tile[write_at] = fetched[0];
      tile[write_at + B_STRIDE] = fetched[1];
      tile[write_at + 2u * B_STRIDE] = fetched[2];
      tile[write_at + 3u * B_STRIDE] = fetched[3];
    }
    workgroupBarrier();
  }

  // Teams add up in a fixed order: the upper half hands its sums to the lower half until one team is left.
  for (var half = SLICES / 2u; half > 0u; half /= 2u) {
    let lane = local % (half * TEAM);
    if (slice >= half && slice < 2u * half) {
      tile[lane] = c0;
      tile[lane + half * TEAM] = c1;
      tile[lane + 2u * half * TEAM] = c2;
      tile[lane + 3u * half * TEAM] = c3;
    }
    workgroupBarrier();
    if (slice < half) {
      c0 += tile[lane];
      c1 += tile[lane + half * TEAM];
      c2 += tile[lane + 2u * half * TEAM];
      c3 += tile[lane + 3u * half * TEAM];
    }
    workgroupBarrier();
    if (COLUMN_SUMS) {
      if (slice >= half && slice < 2u * half) { tile[lane] = column_sum; }
      workgroupBarrier();
      if (slice < half) { column_sum += tile[lane]; }
      workgroupBarrier();
    }
  }
  if (slice != 0u) { return; }

  let c_start = (C_BASE + layer * C_LAYER_STRIDE + split * C_SPLIT_STRIDE) / 4u;
  let row = m0 + ty * 4u;
  let column4 = tile_n * TX + tx;
  finish(c_start, row, column4, c0);
  finish(c_start, row + 1u, column4, c1);
  finish(c_start, row + 2u, column4, c2);
  finish(c_start, row + 3u, column4, c3);
  if (COLUMN_SUMS && tile_m == 0u && ty == 0u && column4 < N / 4u) {
    c[(COLUMN_SUMS_BASE + layer * C_LAYER_STRIDE + split * C_SPLIT_STRIDE) / 4u + column4] = c_vector(column_sum);
  }
}
