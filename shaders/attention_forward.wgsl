// Causal multi-head attention, forward, as FlashAttention-2 does it: scores live in registers, softmax runs online, and
// nothing of size CTX x CTX is stored.
//
// Shapes: qkv[BATCH * CTX, 3 WIDTH] (queries, keys, values side by side, heads side by side within each),
//   out[BATCH * CTX, WIDTH], log_sum_exp[BATCH, HEADS, CTX] (of the scaled scores, for the backward pass).
//   Scores are scaled by 1 / sqrt(HEAD_SIZE). HEAD_SIZE is a multiple of 4, at most 128.
// A workgroup owns ROWS queries of one head; SPLITS invocations share a query, each taking every SPLITS-th key, so that the
//   invocations of one subgroup read the same key, and merge in a fixed order. ROWS * SPLITS is a multiple of 4.
// Reference: tests/kernels/reference.ts, attentionForward; attention_forward_naive.wgsl.

override BATCH: u32;
override CTX: u32;
override HEADS: u32;
override WIDTH: u32;
override ROWS: u32 = 32u;
override SPLITS: u32 = 4u;

override HEAD_SIZE: u32 = WIDTH / HEADS;
override CHUNKS: u32 = HEAD_SIZE / 4u;
override THREADS: u32 = ROWS * SPLITS;
override KEYS: u32 = ROWS * SPLITS / 4u;
override BLOCKS: u32 = (CTX + ROWS - 1u) / ROWS;
const MAX_CHUNKS = 32u;
/// Stands for minus infinity, which WGSL need not honour.
const LOWEST = -1e30;

/// What each of these buffers holds, a line each, so that the half-precision arm can put vec4h here.
alias qkv_vector = vec4f;
alias out_vector = vec4f;

@group(0) @binding(0) var<storage, read> qkv: array<qkv_vector>;
@group(0) @binding(1) var<storage, read_write> out: array<out_vector>;
@group(0) @binding(2) var<storage, read_write> log_sum_exp: array<f32>;

/// Keys, then values, of the present tile; later what one half of the splits hands to the other.
var<workgroup> tile: array<vec4f, 2u * KEYS * CHUNKS>;
var<workgroup> handed_maximum: array<f32, THREADS>;
var<workgroup> handed_sum: array<f32, THREADS>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_index) local: u32) {
  let group = workgroup.x + workgroup.y * workgroups.x;
  if (group >= BLOCKS * BATCH * HEADS) { return; }
  // The last queries have the most keys: they start first.
  let block = BLOCKS - 1u - group / (BATCH * HEADS);
  let sequence_head = group % (BATCH * HEADS);
  let first_token = (sequence_head / HEADS) * CTX;
  let head_at = (sequence_head % HEADS) * CHUNKS;
  let row_stride = 3u * WIDTH / 4u;
  let split = local / ROWS;
  let row = block * ROWS + local % ROWS;
  let scale = 1.0 / sqrt(f32(HEAD_SIZE));

  var query: array<vec4f, MAX_CHUNKS>;
  var sum: array<vec4f, MAX_CHUNKS>;
  for (var c = 0u; c < CHUNKS; c++) {
    sum[c] = vec4f();
    query[c] = vec4f();
    if (row < CTX) { query[c] = vec4f(qkv[(first_token + row) * row_stride + head_at + c]) * scale; }
  }
  var maximum = f32(LOWEST);
  var weight_sum = 0.0;

  let keys_end = min(CTX, (block + 1u) * ROWS);
  for (var first_key = 0u; first_key < keys_end; first_key += KEYS) {
    for (var i = local; i < KEYS * CHUNKS; i += THREADS) {
      let key = first_key + i / CHUNKS;
      if (key < CTX) {
        let at = (first_token + key) * row_stride + head_at + i % CHUNKS;
        tile[i] = vec4f(qkv[at + WIDTH / 4u]);
        tile[KEYS * CHUNKS + i] = vec4f(qkv[at + 2u * (WIDTH / 4u)]);
      }
    }
    workgroupBarrier();
    for (var j = split; j < KEYS; j += SPLITS) {
      if (row < CTX && first_key + j <= row) {
        var products = vec4f();
        for (var c = 0u; c < CHUNKS; c++) { products = fma(query[c], tile[j * CHUNKS + c], products); }
        let score = (products.x + products.y) + (products.z + products.w);
        if (score > maximum) {
          let correction = exp(maximum - score);
          weight_sum *= correction;
          for (var c = 0u; c < CHUNKS; c++) { sum[c] *= correction; }
          maximum = score;
        }
        let weight = exp(score - maximum);
        weight_sum += weight;
        for (var c = 0u; c < CHUNKS; c++) { sum[c] = fma(vec4f(weight), tile[(KEYS + j) * CHUNKS + c], sum[c]); }
      }
    }
    workgroupBarrier();
  }

  for (var half = SPLITS / 2u; half > 0u; half /= 2u) {
    let lane = local % (half * ROWS);
    if (split >= half && split < 2u * half) {
      handed_maximum[lane] = maximum;
      handed_sum[lane] = weight_sum;
      for (var c = 0u; c < CHUNKS; c++) { tile[c * half * ROWS + lane] = sum[c]; }
    }
    workgroupBarrier();
    if (split < half) {
      let both = max(maximum, handed_maximum[lane]);
      let own_factor = exp(maximum - both);
      let other_factor = exp(handed_maximum[lane] - both);
      weight_sum = weight_sum * own_factor + handed_sum[lane] * other_factor;
      for (var c = 0u; c < CHUNKS; c++) {
        sum[c] = sum[c] * own_factor + tile[c * half * ROWS + lane] * other_factor;
      }
      maximum = both;
    }
    workgroupBarrier();
  }
  if (split != 0u || row >= CTX) { return; }
  log_sum_exp[sequence_head * CTX + row] = maximum + log(weight_sum);
  for (var c = 0u; c < CHUNKS; c++) {
    out[(first_token + row) * (WIDTH / 4u) + head_at + c] = out_vector(sum[c] / weight_sum);
  }
}
