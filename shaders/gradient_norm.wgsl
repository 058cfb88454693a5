// Adds up the partial gradients of every parameter, in place, and the partial sums of their squares; first half of the
// update, which adamw.wgsl finishes.
//
// Bindings: gradients[SLOTS, SIZE] (SLOT_STRIDE floats from slot to slot; after them EXTRA floats more that belong to the
//   first parameters; the sum goes to slot 0), partial_squares[GROUPS]. Sizes and strides are multiples of 4.
// Reference: tests/kernels/reference.ts, gradientNorm; gradient_norm_naive.wgsl.

override SIZE: u32;
override SLOTS: u32;
override SLOT_STRIDE: u32;
override EXTRA: u32;
override GROUPS: u32;

override PER_GROUP: u32 = (SIZE / 4u + GROUPS - 1u) / GROUPS;
const THREADS = 256u;

@group(0) @binding(0) var<storage, read_write> gradients: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> partial_squares: array<f32>;

var<workgroup> scratch: array<f32, THREADS>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) local: u32) {
  let end = min((workgroup.x + 1u) * PER_GROUP, SIZE / 4u);
  var squares = 0.0;
  for (var i = workgroup.x * PER_GROUP + local; i < end; i += THREADS) {
    var gradient = gradients[i];
    for (var slot = 1u; slot < SLOTS; slot++) { gradient += gradients[slot * (SLOT_STRIDE / 4u) + i]; }
    if (i < EXTRA / 4u) { gradient += gradients[SLOTS * (SLOT_STRIDE / 4u) + i]; }
    if (SLOTS > 1u || i < EXTRA / 4u) { gradients[i] = gradient; }
    squares += dot(gradient, gradient);
  }
  scratch[local] = squares;
  workgroupBarrier();
  for (var half = THREADS / 2u; half > 0u; half /= 2u) {
    if (local < half) { scratch[local] += scratch[local + half]; }
    workgroupBarrier();
  }
  if (local == 0u) { partial_squares[workgroup.x] = scratch[0]; }
}
