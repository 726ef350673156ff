// field-bench: one operation over and over, in {{chains}} independent chains a thread; a result is the next operand of its chain.
// Host: dev/field-bench/kernels.ts, which also has the same chains on BigInts.
{{#usesField}}
{{> field}}
{{/usesField}}
{{#usesInverse}}
{{> inverse}}
{{/usesInverse}}
{{structs}}
{{bindings}}
{{#usesField}}

// Packing alone would be undone by unpacking, and a compiler may know it.
fn with_bit(a: Packed, bit: u32) -> Packed {
  var b = a;
  b.v0.x ^= bit & 1u;
  return b;
}
{{/usesField}}

@compute @workgroup_size({{threads}})
fn chain(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let first = (id.x + id.y * groups.x * {{threads}}u) * {{chains}}u;
  let y = {{load}}(values[first]);
{{#each}}
  var x{{i}} = {{load}}(values[first + {{i}}u]);
{{/each}}
  for (var step = 0u; step < config.steps; step++) {
{{#statements}}
    {{statement}}
{{/statements}}
  }
{{#each}}
  values[first + {{i}}u] = {{store}}(x{{i}});
{{/each}}
}
