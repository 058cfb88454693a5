// c = a b, 128 x 128 x 128, row-major f32: 2 * 128^3 floating-point operations for each layer of the dispatch in z, whatever
// the machine. Every layer writes the same values, so that more layers are more work and the same answer. One invocation makes
// one entry of c: no shared memory and no barrier, since a software adapter pays far more for those than for arithmetic (three
// times the probe's time on SwiftShader). Bindings: 0 a (read), 1 b (read), 2 c (written). Reference: with every entry of a and
// b equal to 1, every entry of c is exactly 128.

const size = 128u;

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;

@compute @workgroup_size(16, 16)
fn main(@builtin(global_invocation_id) at: vec3u) {
  var sum = 0.0;
  for (var k = 0u; k < size; k++) {
    sum += a[at.y * size + k] * b[k * size + at.x];
  }
  c[at.y * size + at.x] = sum;
}
