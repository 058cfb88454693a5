// c = a b, 256 x 256 x 256, row-major f32: 2 * 256^3 floating-point operations, whatever the machine. One workgroup makes one
// 16 x 16 tile of c from tiles in shared memory. Bindings: 0 a (read), 1 b (read), 2 c (written). Reference: with every entry
// of a and b equal to 1, every entry of c is exactly 256.

const size = 256u;
const tile = 16u;

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;

var<workgroup> a_tile: array<f32, 256>;
var<workgroup> b_tile: array<f32, 256>;

@compute @workgroup_size(16, 16)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let row = group.y * tile + local.y;
  let column = group.x * tile + local.x;
  let own = local.y * tile + local.x;
  var sum = 0.0;
  for (var start = 0u; start < size; start += tile) {
    a_tile[own] = a[row * size + start + local.x];
    b_tile[own] = b[(start + local.y) * size + column];
    workgroupBarrier();
    for (var k = 0u; k < tile; k++) {
      sum += a_tile[local.y * tile + k] * b_tile[k * tile + local.x];
    }
    workgroupBarrier();
  }
  c[row * size + column] = sum;
}
