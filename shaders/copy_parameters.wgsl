// rounded = parameters, in the precision that `rounded` has: the weights that its products read, made anew after each update.
//
// Bindings: parameters[SIZE], rounded[SIZE]; SIZE is a multiple of 4.
// Reference: the parameters themselves.

override SIZE: u32;

/// What `rounded` holds, on a line of its own, so that the half-precision arm can put vec4h here.
alias rounded_vector = vec4f;

@group(0) @binding(0) var<storage, read> parameters: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> rounded: array<rounded_vector>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u,
        @builtin(local_invocation_index) local: u32) {
  let index = (workgroup.x + workgroup.y * workgroups.x) * 256u + local;
  if (index < SIZE / 4u) { rounded[index] = rounded_vector(parameters[index]); }
}
