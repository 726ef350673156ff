// gather: takes elements of a vector in another order: those of a list of indices, or each from the
// index with its bits in reverse. One thread for each element.
// Host: src/fields/gpu/gather.ts. Tests: tests/support/field-vectors.ts.
{{structs}}
{{> packed}}

{{bindings}}
{{> hash_chain}}

@compute @workgroup_size({{threads}})
fn gather(
  @builtin(global_invocation_id) id: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let i = id.x + id.y * groups.x * {{threads}}u;
  if (!continue_chain(i == 0u) || i >= config.length) {
    return;
  }
  if (config.reversed_bits > 0u) {
    out[i] = a[reverseBits(i) >> (32u - config.reversed_bits)];
  } else {
    out[i] = a[indices[i]];
  }
}
