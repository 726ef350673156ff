// rows: sums of entries of a sparse matrix, one thread for each sum. Sum r has the entries from
// starts[r] up to starts[r + 1]: values[value_indices[e]]·a[columns[e]], or a[e] alone where long rows,
// which are cut into several sums, are put together.
// Host: src/fields/gpu/rows.ts. Tests: tests/support/field-vectors.ts.
{{structs}}
{{> field}}
{{> element}}

{{bindings}}
{{> hash_chain}}

@compute @workgroup_size({{threads}})
fn rows(
  @builtin(global_invocation_id) id: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let row = id.x + id.y * groups.x * {{threads}}u;
  if (!continue_chain(row == 0u) || row >= config.rows) {
    return;
  }
  var sum = packed_zero();
  let end = starts[row + 1u];
  for (var e = starts[row]; e < end; e++) {
    var term: Tight;
    if (config.has_values > 0u) {
      term = field_mul(field_loose(element(a[columns[e]])), element(values[value_indices[e]]));
    } else {
      term = element(a[e]);
    }
    sum = field_pack_any(element_plus(element(sum), term));
  }
  out[row] = sum;
}
