// The check of gradient_norm.wgsl, one group an invocation; any SIZE.
//
// Shapes, bindings and overrides: as there. Reference: tests/kernels/reference.ts, gradientNorm.

override SIZE: u32;
override SLOTS: u32;
override SLOT_STRIDE: u32;
override EXTRA: u32;
override GROUPS: u32;

@group(0) @binding(0) var<storage, read_write> gradients: array<f32>;
@group(0) @binding(1) var<storage, read_write> partial_squares: array<f32>;

@compute @workgroup_size(1)
fn main(@builtin(workgroup_id) workgroup: vec3u) {
  let per_group = (SIZE + GROUPS - 1u) / GROUPS;
  var squares = 0.0;
  for (var i = workgroup.x * per_group; i < min((workgroup.x + 1u) * per_group, SIZE); i++) {
    var gradient = gradients[i];
    for (var slot = 1u; slot < SLOTS; slot++) { gradient += gradients[slot * SLOT_STRIDE + i]; }
    if (i < EXTRA) { gradient += gradients[SLOTS * SLOT_STRIDE + i]; }
    gradients[i] = gradient;
    squares += gradient * gradient;
  }
  partial_squares[workgroup.x] = squares;
}
