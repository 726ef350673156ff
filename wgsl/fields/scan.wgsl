// scan: runs a recurrence along parts of a vector, one thread for each part.
//
// Products, upwards:  out[i] = acc, acc = acc·a[i];      acc begins with carries[part], or 1
// Horner, downwards:  acc = acc·x + a[i], out[i] = acc;  acc begins with carries[part + 1], or 0
//
// With `reduces` only the last acc of each part is written, to out[part]: the vector whose own scan
// is the carries.
// Host: src/fields/gpu/scan.ts. Tests: tests/support/field-vectors.ts.
{{structs}}
{{> field}}
{{> element}}

{{bindings}}
{{> hash_chain}}

@compute @workgroup_size({{threads}})
fn scan(
  @builtin(global_invocation_id) id: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let part = id.x + id.y * groups.x * {{threads}}u;
  let first = part * config.part;
  if (!continue_chain(part == 0u) || first >= config.length) {
    return;
  }
  let count = min(config.part, config.length - first);
  let is_horner = config.horner > 0u;
  var acc = field_one();
  var carry = part;
  if (is_horner) {
    acc = zero_element();
    carry = part + 1u;
  }
  if (carry < config.carries) {
    acc = element(carries[carry]);
  }
  let x = element(Packed({{#factor}}vec4<u32>({{vector}}), {{/factor}}));
  for (var turn = 0u; turn < count; turn++) {
    var i = first + turn;
    if (is_horner) {
      i = first + count - 1u - turn;
    }
    let own = element(a[i]);
    var by = own;
    if (is_horner) {
      by = x;
    }
    let product = field_mul(field_loose(acc), by);
    if (is_horner) {
      acc = element(field_pack_any(element_plus(product, own)));
      if (config.reduces == 0u) {
        out[i] = field_pack_any(acc);
      }
    } else {
      if (config.reduces == 0u) {
        out[i] = field_pack_any(acc);
      }
      acc = product;
    }
  }
  if (config.reduces > 0u) {
    out[part] = field_pack_any(acc);
  }
}
