// Causal multi-head attention, backward, as FlashAttention-2 does it: scores are computed again from the saved log-sum-exp,
// and nothing of size CTX x CTX is stored.
//
//   P = exp(scale Q K^T - log_sum_exp), delta = row sums of d_out out, dS = P (d_out V^T - delta),
//   dV = P^T d_out, dQ = scale dS K, dK = scale dS^T Q.
//
// Shapes: qkv and d_qkv[BATCH * CTX, 3 WIDTH], out and d_out[BATCH * CTX, WIDTH], log_sum_exp[BATCH, HEADS, CTX].
//   HEAD_SIZE is a multiple of 4, at most 128.
// The first half of the workgroups owns ROWS queries each (dQ), the second ROWS keys each (dK and dV): independent work in
//   one dispatch. SPLITS invocations share a row, each taking every SPLITS-th partner, and add up in a fixed order.
// Reference: tests/kernels/reference.ts, attentionBackward; attention_backward_naive.wgsl.

override BATCH: u32;
override CTX: u32;
override HEADS: u32;
override WIDTH: u32;
override ROWS: u32 = 32u;
override SPLITS: u32 = 4u;

override HEAD_SIZE: u32 = WIDTH / HEADS;
override CHUNKS: u32 = HEAD_SIZE / 4u;
override THREADS: u32 = ROWS * SPLITS;
override PARTNERS: u32 = ROWS * SPLITS / 4u;
override BLOCKS: u32 = (CTX + ROWS - 1u) / ROWS;
const MAX_CHUNKS = 32u;

/// What each of these buffers holds, a line each, so that the half-precision arm can put vec4h here.
alias qkv_vector = vec4f;
alias out_vector = vec4f;

@group(0) @binding(0) var<storage, read> qkv: array<qkv_vector>;
@group(0) @binding(1) var<storage, read> out: array<out_vector>;
@group(0) @binding(2) var<storage, read> log_sum_exp: array<f32>;
@group(0) @binding(3) var<storage, read> d_out: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> d_qkv: array<vec4f>;

/// Two vectors of each partner of the present tile; later what one half of the splits hands to the other.
var<workgroup> tile: array<vec4f, 2u * PARTNERS * CHUNKS>;
var<workgroup> tile_log_sum_exp: array<f32, PARTNERS>;
var<workgroup> tile_delta: array<f32, PARTNERS>;

struct Place {
  sequence_head: u32,
  first_token: u32,
  head_at: u32,
  row: u32,
  split: u32,
  local: u32,
}

fn total(v: vec4f) -> f32 {
  return (v.x + v.y) + (v.z + v.w);
}

/// Adds up one vector over the splits; the first split holds the result.
fn merge(sum: ptr<function, array<vec4f, MAX_CHUNKS>>, place: Place) {
  for (var half = SPLITS / 2u; half > 0u; half /= 2u) {
    let lane = place.local % (half * ROWS);
    if (place.split >= half && place.split < 2u * half) {
      for (var c = 0u; c < CHUNKS; c++) { tile[c * half * ROWS + lane] = (*sum)[c]; }
    }
    workgroupBarrier();
    if (place.split < half) {
      for (var c = 0u; c < CHUNKS; c++) { (*sum)[c] += tile[c * half * ROWS + lane]; }
    }
    workgroupBarrier();
  }
}

fn query_gradient(place: Place, block: u32) {
  let scale = 1.0 / sqrt(f32(HEAD_SIZE));
  let row_stride = 3u * WIDTH / 4u;
  let valid = place.row < CTX;
  let token = place.first_token + min(place.row, CTX - 1u);
  var query: array<vec4f, MAX_CHUNKS>;
  var upstream: array<vec4f, MAX_CHUNKS>;
  var sum: array<vec4f, MAX_CHUNKS>;
  var delta = 0.0;
  for (var c = 0u; c < CHUNKS; c++) {
    query[c] = vec4f(qkv[token * row_stride + place.head_at + c]) * scale;
    upstream[c] = d_out[token * (WIDTH / 4u) + place.head_at + c];
    delta += dot(upstream[c], vec4f(out[token * (WIDTH / 4u) + place.head_at + c]));
    sum[c] = vec4f();
  }
  let own_log_sum_exp = log_sum_exp[place.sequence_head * CTX + min(place.row, CTX - 1u)];
  let keys_end = min(CTX, (block + 1u) * ROWS);
  for (var first_key = 0u; first_key < keys_end; first_key += PARTNERS) {
    for (var i = place.local; i < PARTNERS * CHUNKS; i += THREADS) {
      let key = first_key + i / CHUNKS;
      if (key < CTX) {
        let at = (place.first_token + key) * row_stride + place.head_at + i % CHUNKS;
        tile[i] = vec4f(qkv[at + WIDTH / 4u]);
        tile[PARTNERS * CHUNKS + i] = vec4f(qkv[at + 2u * (WIDTH / 4u)]);
      }
    }
    workgroupBarrier();
    for (var j = place.split; j < PARTNERS; j += SPLITS) {
      if (valid && first_key + j <= place.row) {
        // Kept, so that each number of the tile is read once: shared memory's bandwidth bounds this kernel.
        var key: array<vec4f, MAX_CHUNKS>;
        var score = vec4f();
        var d_weight = vec4f();
        for (var c = 0u; c < CHUNKS; c++) {
          key[c] = tile[j * CHUNKS + c];
          score = fma(query[c], key[c], score);
          d_weight = fma(upstream[c], tile[(PARTNERS + j) * CHUNKS + c], d_weight);
        }
        let d_score = exp(total(score) - own_log_sum_exp) * (total(d_weight) - delta);
        for (var c = 0u; c < CHUNKS; c++) { sum[c] = fma(vec4f(d_score), key[c], sum[c]); }
      }
    }
    workgroupBarrier();
  }
  merge(&sum, place);
  if (place.split != 0u || !valid) { return; }
  for (var c = 0u; c < CHUNKS; c++) { d_qkv[token * row_stride + place.head_at + c] = sum[c] * scale; }
}

fn key_value_gradient(place: Place, block: u32) {
  let scale = 1.0 / sqrt(f32(HEAD_SIZE));
  let row_stride = 3u * WIDTH / 4u;
  let valid = place.row < CTX;
  let token = place.first_token + min(place.row, CTX - 1u);
  var key: array<vec4f, MAX_CHUNKS>;
  var value: array<vec4f, MAX_CHUNKS>;
  var d_key: array<vec4f, MAX_CHUNKS>;
  var d_value: array<vec4f, MAX_CHUNKS>;
  for (var c = 0u; c < CHUNKS; c++) {
    let at = token * row_stride + place.head_at + c;
    key[c] = vec4f(qkv[at + WIDTH / 4u]) * scale;
    value[c] = vec4f(qkv[at + 2u * (WIDTH / 4u)]);
    d_key[c] = vec4f();
    d_value[c] = vec4f();
  }
  for (var first_query = (block * ROWS / PARTNERS) * PARTNERS; first_query < CTX; first_query += PARTNERS) {
    for (var i = place.local; i < PARTNERS * CHUNKS; i += THREADS) {
      let query = first_query + i / CHUNKS;
      if (query < CTX) {
        let query_token = place.first_token + query;
        tile[i] = vec4f(qkv[query_token * row_stride + place.head_at + i % CHUNKS]);
        tile[PARTNERS * CHUNKS + i] = d_out[query_token * (WIDTH / 4u) + place.head_at + i % CHUNKS];
      }
    }
    workgroupBarrier();
    for (var i = place.local; i < PARTNERS; i += THREADS) {
      if (first_query + i < CTX) {
        let out_at = (place.first_token + first_query + i) * (WIDTH / 4u) + place.head_at;
        var delta = 0.0;
        for (var c = 0u; c < CHUNKS; c++) { delta += dot(tile[(PARTNERS + i) * CHUNKS + c], vec4f(out[out_at + c])); }
        tile_delta[i] = delta;
        tile_log_sum_exp[i] = log_sum_exp[place.sequence_head * CTX + first_query + i];
      }
    }
    workgroupBarrier();
    for (var i = place.split; i < PARTNERS; i += SPLITS) {
      let query = first_query + i;
      if (valid && query < CTX && query >= place.row) {
        var score = vec4f();
        var d_weight = vec4f();
        for (var c = 0u; c < CHUNKS; c++) {
          score = fma(key[c], tile[i * CHUNKS + c], score);
          d_weight = fma(value[c], tile[(PARTNERS + i) * CHUNKS + c], d_weight);
        }
        let weight = exp(total(score) - tile_log_sum_exp[i]);
        let d_score = weight * (total(d_weight) - tile_delta[i]);
        for (var c = 0u; c < CHUNKS; c++) {
          d_key[c] = fma(vec4f(d_score), tile[i * CHUNKS + c], d_key[c]);
          d_value[c] = fma(vec4f(weight), tile[(PARTNERS + i) * CHUNKS + c], d_value[c]);
        }
      }
    }
    workgroupBarrier();
  }
  merge(&d_key, place);
  merge(&d_value, place);
  if (place.split != 0u || !valid) { return; }
  for (var c = 0u; c < CHUNKS; c++) {
    let at = token * row_stride + place.head_at + c;
    d_qkv[at + WIDTH / 4u] = d_key[c] * scale;
    d_qkv[at + 2u * (WIDTH / 4u)] = d_value[c];
  }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_index) local: u32) {
  let group = workgroup.x + workgroup.y * workgroups.x;
  let half = BLOCKS * BATCH * HEADS;
  if (group >= 2u * half) { return; }
  let sequence_head = group % (BATCH * HEADS);
  // Within each half the blocks with the most partners start first.
  let order = (group % half) / (BATCH * HEADS);
  let block = select(order, BLOCKS - 1u - order, group < half);
  let place = Place(sequence_head, (sequence_head / HEADS) * CTX, (sequence_head % HEADS) * CHUNKS,
                    block * ROWS + local % ROWS, local / ROWS, local);
  if (group < half) {
    query_gradient(place, block);
  } else {
    key_value_gradient(place, block);
  }
}
