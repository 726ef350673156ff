// vector sum: adds up the words of a vector, modulo 2^32. One thread for each word.
// Host: tests/support/vector-sum.ts.
{{structs}}
{{bindings}}
{{> hash_chain}}

@compute @workgroup_size({{threads}})
fn vector_sum(@builtin(global_invocation_id) id: vec3<u32>) {
  if (!continue_chain(id.x == 0u) || id.x >= config.length) {
    return;
  }
  atomicAdd(&total[0], words[id.x]);
}
