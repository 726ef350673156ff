// Inverts a batch a thread, repeatedly. Numbers beyond the end of the array count as 0.
// Host: dev/field-bench/batch-inverse/kernel.ts.
{{declarations}}
{{structs}}
{{bindings}}

@compute @workgroup_size({{threads}})
fn batch_inverse(
  @builtin(global_invocation_id) id: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let first = (id.x + id.y * groups.x * {{threads}}u) * BATCH;
  let count = arrayLength(&values);
  for (var s = 0u; s < BATCH; s++) {
    if (first + s < count) {
      batch[s] = values[first + s];
    }
  }
  for (var step = 0u; step < config.steps; step++) {
    // changes a bit, because the inverse of the inverse would be the first number again
    for (var s = 0u; s < BATCH; s++) {
      batch[s].v0.x ^= step & 1u;
    }
    batch_peel(shared_inverse(batch_product(), thread));
  }
  for (var s = 0u; s < BATCH; s++) {
    if (first + s < count) {
      values[first + s] = batch[s];
    }
  }
}
