// Repeats one operation in {{chains}} independent chains a thread; each result is the next operand
// of its chain. Host: dev/field-bench/kernels.ts, which computes the same chains with BigInts.
{{declarations}}
{{structs}}
{{bindings}}

@compute @workgroup_size({{threads}})
fn chain(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let first = (id.x + id.y * groups.x * {{threads}}u) * {{chains}}u * {{limbCount}}u;
  let y = {{type}}({{#limbs}}values[first + {{i}}u], {{/limbs}});
{{#each}}
  var x{{chain}} = {{type}}({{#limbs}}values[first + {{at}}u + {{i}}u], {{/limbs}});
{{/each}}
  for (var step = 0u; step < config.steps; step++) {
{{#statements}}
    {{statement}}
{{/statements}}
  }
{{#each}}
{{#limbs}}
  values[first + {{at}}u + {{i}}u] = x{{chain}}{{member}};
{{/limbs}}
{{/each}}
}
