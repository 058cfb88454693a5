// Gradients of both embedding tables, as a gather: every result row sums the rows of dx that used it, in a fixed order and
// without atomics. The host sorts the positions of a batch by token, so that a row of the token table finds its own.
//
// Bindings: batch (words; ORDER_AT: positions sorted by token, STARTS_AT: 257 starts into them), dx[TOKENS, WIDTH],
//   gradients (the token table's gradient from RESULT_AT on, the position table's right after POSITIONS_AT).
//   RESULT_AT and POSITIONS_AT count floats. WIDTH is a multiple of 4.
// Workgroup g < 256: row g of the token table; the next CTX workgroups: rows of the position table.
// Reference: tests/kernels/reference.ts, embedBackward; embed_backward_naive.wgsl.

override TOKENS: u32;
override CTX: u32;
override WIDTH: u32;
override ORDER_AT: u32;
override STARTS_AT: u32;
override RESULT_AT: u32;
override POSITIONS_AT: u32;

override WIDTH4: u32 = WIDTH / 4u;
/// A workgroup is LANES columns of four by ROWS rows.
override LANES: u32 = 16u;
override ROWS: u32 = 16u;

@group(0) @binding(0) var<storage, read> batch: array<u32>;
@group(0) @binding(1) var<storage, read> dx: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> gradients: array<vec4f>;

var<workgroup> partial: array<vec4f, LANES * ROWS>;

@compute @workgroup_size(LANES * ROWS)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_index) local: u32) {
  let blocks = (WIDTH4 + LANES - 1u) / LANES;
  let group = workgroup.x + workgroup.y * workgroups.x;
  if (group >= (256u + CTX) * blocks) { return; }
  let row = group / blocks;
  let column = (group % blocks) * LANES + local % LANES;
  let lane_row = local / LANES;
  var sum = vec4f();
  if (column < WIDTH4) {
    if (row < 256u) {
      let end = batch[STARTS_AT + row + 1u];
      for (var i = batch[STARTS_AT + row] + lane_row; i < end; i += ROWS) {
        sum += dx[batch[ORDER_AT + i] * WIDTH4 + column];
      }
    } else {
      for (var i = lane_row * CTX + row - 256u; i < TOKENS; i += ROWS * CTX) {
        sum += dx[i * WIDTH4 + column];
      }
    }
  }
  partial[local] = sum;
  workgroupBarrier();
  if (lane_row != 0u || column >= WIDTH4) { return; }
  for (var i = 1u; i < ROWS; i++) { sum += partial[i * LANES + local]; }
  if (row < 256u) {
    gradients[RESULT_AT / 4u + row * WIDTH4 + column] = sum;
  } else {
    gradients[POSITIONS_AT / 4u + (row - 256u) * WIDTH4 + column] = sum;
  }
}
