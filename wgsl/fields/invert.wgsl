// invert: inverts the elements of a vector, and leaves zeros. One thread for each part, with one
// inversion (Montgomery 1987, section 10.3.1): upwards it writes the product of the elements before
// each, downwards the inverses.
// Host: src/fields/gpu/invert.ts. Tests: tests/support/field-vectors.ts.
{{structs}}
{{> field}}
const MATRICES = {{batches}}u;
{{> inverse}}
{{> element}}

{{bindings}}
{{> hash_chain}}

@compute @workgroup_size({{threads}})
fn invert(
  @builtin(global_invocation_id) id: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let part = id.x + id.y * groups.x * {{threads}}u;
  let first = part * config.part;
  if (!continue_chain(part == 0u) || first >= config.length) {
    return;
  }
  unseen_zero = config.length >> 31u;
  let count = min(config.part, config.length - first);
  var acc = field_one();
  for (var turn = 0u; turn < 2u * count; turn++) {
    let goes_up = turn < count;
    var i = first + turn;
    if (!goes_up) {
      i = first + 2u * count - 1u - turn;
    }
    if (turn == count) {
      acc = field_inverse(acc);
    }
    let own = field_canonical(element(a[i]));
    let is_zero = packed_is_zero(field_pack(own));
    if (is_zero) {
      out[i] = packed_zero();
      continue;
    }
    if (goes_up) {
      out[i] = field_pack_any(acc);
    }
    // downwards first the product before the element, and then the element
    let products = select(2u, 1u, goes_up);
    for (var k = 0u; k < products; k++) {
      var by = field_tighten(canonical_loose(own));
      if (!goes_up && k == 0u) {
        by = element(out[i]);
      }
      let product = field_mul(field_loose(acc), by);
      if (!goes_up && k == 0u) {
        out[i] = field_pack_any(product);
      } else {
        acc = product;
      }
    }
  }
}
