// Matrix product with an epilogue: C[M, N] = epilogue(op(A)[M, K] x op(B)[K, N]), f32 sums, each invocation owns 8 x 8 results.
//
// Shapes: op(A) is A[M, K], or A[K, M] transposed (TRANS_A); op(B) is B[K, N], or B[N, K] transposed (TRANS_B). All rows
//   are contiguous; the contiguous dimension of every operand is a multiple of 4. A workgroup owns a tile of 8 TY x 8 TX
//   results. An invocation's rows and columns lie in two runs of 4, half a tile apart, so that neighbours read
//   neighbouring banks. Its SLICES teams of TX x TY invocations share each BK-deep tile of operands, take BK / SLICES of
//   its rows each and add up at the end, so that a small result still occupies many invocations.
//   `LAYERS` products of one shape, and `SPLITS` ranges of K of each, run side by side in one dispatch.
// Bindings: a, b, bias[N], extra[M, N] (residual or pre-activation), c, pre_activation[M, N].
// Requires: TX * TY * SLICES invocations hold BK * (TX + TY) / 2 blocks, at most one each; BK a multiple of 8 and 4 SLICES;
//   TX and TY powers of 2; TILE_VECTORS >= BUFFERS * BK * (2 TX + 2 TY), and >= 4 * TX * TY * SLICES where SLICES > 1.
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
/// Whether neighbours own results along a curve (see seat) or along rows of TX.
override CURVE: bool = false;
override TILE_VECTORS: u32 = BUFFERS * BK * (2u * TX + 2u * TY);

override TEAM: u32 = TX * TY;
override THREADS: u32 = TEAM * SLICES;
override A_STRIDE: u32 = 2u * TY;
override B_STRIDE: u32 = 2u * TX;
/// Neighbours along k that read one row together, up to a whole 128-byte line, and how far a row of the tile is rotated
/// from one block of k to the next, so that what they store still spreads over the banks.
override RUN: u32 = min(8u, BK / 4u);
override ROTATION: u32 = 8u / RUN;
override B_START: u32 = BK * A_STRIDE;
override OPERANDS: u32 = BK * (A_STRIDE + B_STRIDE);
override A_BLOCKS: u32 = TY * BK / 2u;
override B_BLOCKS: u32 = TX * BK / 2u;
override TILES_M: u32 = (M + TY * 8u - 1u) / (TY * 8u);
override TILES_N: u32 = (N + TX * 8u - 1u) / (TX * 8u);
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
var<workgroup> tile: array<vec4f, TILE_VECTORS>;

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

/// Which results an invocation of a team owns: x along n, y along m. With CURVE, neighbours lie on a Z-shaped curve of 8 by
/// 4 (4 by 4 where TX is 4), so that the 32 that run together read 8 and 4 different vectors of the tile, not 16 and 2, and pairs of
/// them read the same one: shared memory serves such a read in half the time.
fn seat(member: u32) -> vec2u {
  if (!CURVE) { return vec2u(member % TX, member / TX); }
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
  let m0 = tile_m * TY * 8u;
  let n0 = tile_n * TX * 8u;
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
    let block = place(local, !TRANS_A, 2u * TY);
    block_along = m0 + block.along * 4u;
    block_k = block.k * 4u;
    store_at = block_k * A_STRIDE + (block.along + ROTATION * block.k) % A_STRIDE;
  } else if (loads_b) {
    let block = place(local - A_BLOCKS, TRANS_B, 2u * TX);
    block_along = n0 + block.along * 4u;
    block_k = block.k * 4u;
    store_at = B_START + block_k * B_STRIDE + (block.along + ROTATION * block.k) % B_STRIDE;
  }

  var c00 = vec4f();
  var c01 = vec4f();
  var c10 = vec4f();
  var c11 = vec4f();
  var c20 = vec4f();
  var c21 = vec4f();
  var c30 = vec4f();
  var c31 = vec4f();
  var c40 = vec4f();
  var c41 = vec4f();
  var c50 = vec4f();
  var c51 = vec4f();
  var c60 = vec4f();
  var c61 = vec4f();
  var c70 = vec4f();
  var c71 = vec4f();
  var column_sum0 = vec4f();
  var column_sum1 = vec4f();
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
        let a_row = read_at + block * 4u * A_STRIDE;
        let b_row = read_at + B_START + block * 4u * B_STRIDE;
        let a0_at = a_row + (ty + ROTATION * block) % A_STRIDE;
        let a1_at = a_row + (ty + TY + ROTATION * block) % A_STRIDE;
        let b0_at = b_row + (tx + ROTATION * block) % B_STRIDE;
        let b1_at = b_row + (tx + TX + ROTATION * block) % B_STRIDE;
        for (var k = 0u; k < 4u; k++) {
          let a0 = tile[a0_at + k * A_STRIDE];
          let a1 = tile[a1_at + k * A_STRIDE];
          let b0 = tile[b0_at + k * B_STRIDE];
          let b1 = tile[b1_at + k * B_STRIDE];
          c00 = fma(vec4f(a0.x), b0, c00);
          c01 = fma(vec4f(a0.x), b1, c01);
          c10 = fma(vec4f(a0.y), b0, c10);
          c11 = fma(vec4f(a0.y), b1, c11);
          c20 = fma(vec4f(a0.z), b0, c20);
          c21 = fma(vec4f(a0.z), b1, c21);
          c30 = fma(vec4f(a0.w), b0, c30);
          c31 = fma(vec4f(a0.w), b1, c31);
          c40 = fma(vec4f(a1.x), b0, c40);
          c41 = fma(vec4f(a1.x), b1, c41);
          c50 = fma(vec4f(a1.y), b0, c50);
          c51 = fma(vec4f(a1.y), b1, c51);
          c60 = fma(vec4f(a1.z), b0, c60);
          c61 = fma(vec4f(a1.z), b1, c61);
          c70 = fma(vec4f(a1.w), b0, c70);
          c71 = fma(vec4f(a1.w), b1, c71);
          if (sums_columns) {
            column_sum0 += b0;
            column_sum1 += b1;
          }
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

  let c_start = (C_BASE + layer * C_LAYER_STRIDE + split * C_SPLIT_STRIDE) / 4u;
  let sums_start = (COLUMN_SUMS_BASE + layer * C_LAYER_STRIDE + split * C_SPLIT_STRIDE) / 4u;
  if (SLICES == 1u) {
    let row = m0 + ty * 4u;
    let column4 = tile_n * TX * 2u + tx;
    finish(c_start, row, column4, c00);
    finish(c_start, row, column4 + TX, c01);
    finish(c_start, row + 1u, column4, c10);
    finish(c_start, row + 1u, column4 + TX, c11);
    finish(c_start, row + 2u, column4, c20);
    finish(c_start, row + 2u, column4 + TX, c21);
    finish(c_start, row + 3u, column4, c30);
    finish(c_start, row + 3u, column4 + TX, c31);
    finish(c_start, row + TY * 4u, column4, c40);
    finish(c_start, row + TY * 4u, column4 + TX, c41);
    finish(c_start, row + TY * 4u + 1u, column4, c50);
    finish(c_start, row + TY * 4u + 1u, column4 + TX, c51);
    finish(c_start, row + TY * 4u + 2u, column4, c60);
    finish(c_start, row + TY * 4u + 2u, column4 + TX, c61);
    finish(c_start, row + TY * 4u + 3u, column4, c70);
    finish(c_start, row + TY * 4u + 3u, column4 + TX, c71);
    if (sums_columns && ty == 0u) {
      if (column4 < N / 4u) { c[sums_start + column4] = c_vector(column_sum0); }
      if (column4 + TX < N / 4u) { c[sums_start + column4 + TX] = c_vector(column_sum1); }
    }
    return;
  }

  // Two rows of every team at a time go through shared memory; the teams' sums are added in order.
  for (var stage = 0u; stage < 4u; stage++) {
    var v0 = c00;
    var v1 = c01;
    var v2 = c10;
    var v3 = c11;
    if (stage == 1u) { v0 = c20; v1 = c21; v2 = c30; v3 = c31; }
    if (stage == 2u) { v0 = c40; v1 = c41; v2 = c50; v3 = c51; }
    if (stage == 3u) { v0 = c60; v1 = c61; v2 = c70; v3 = c71; }
    let team_start = slice * TEAM * 4u + local % TEAM;
    tile[team_start] = v0;
    tile[team_start + TEAM] = v1;
    tile[team_start + 2u * TEAM] = v2;
    tile[team_start + 3u * TEAM] = v3;
    workgroupBarrier();
    for (var o = local; o < TEAM * 4u; o += THREADS) {
      var sum = tile[o];
      for (var team = 1u; team < SLICES; team++) { sum += tile[team * TEAM * 4u + o]; }
      let part = o / TEAM;
      let owner = seat(o % TEAM);
      let row = m0 + (stage / 2u) * TY * 4u + owner.y * 4u + (stage % 2u) * 2u + part / 2u;
      finish(c_start, row, tile_n * TX * 2u + (part % 2u) * TX + owner.x, sum);
    }
    workgroupBarrier();
  }
  if (COLUMN_SUMS) {
    if (ty == 0u) {
      tile[slice * 2u * TX + tx] = column_sum0;
      tile[slice * 2u * TX + TX + tx] = column_sum1;
    }
    workgroupBarrier();
    let column4 = tile_n * TX * 2u + local;
    if (tile_m == 0u && local < 2u * TX && column4 < N / 4u) {
      var sum = tile[local];
      for (var team = 1u; team < SLICES; team++) { sum += tile[team * 2u * TX + local]; }
      c[sums_start + column4] = c_vector(sum);
    }
  }
}
