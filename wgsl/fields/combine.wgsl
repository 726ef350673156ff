// combine: computes each element of a vector from the elements at the same place of others. One
// thread for each element of the result:
//
//   out[i] = x·y + z, x·y - z, or x·y,   x = a[i + a_shift] or 1,   z = c[i + c_shift]
//
// y is 1, b[i + b_shift], a factor, or a factor's power: powers[j % low]·powers[low + j / low],
// where j is i, or i with its bits in reverse. An index outside a vector stands for a zero.
// Host: src/fields/gpu/combine.ts. Tests: tests/support/field-vectors.ts.
{{structs}}
{{> field}}
{{> element}}

{{bindings}}
{{> hash_chain}}

@compute @workgroup_size({{threads}})
fn combine(
  @builtin(global_invocation_id) id: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let i = id.x + id.y * groups.x * {{threads}}u;
  if (!continue_chain(i == 0u) || i >= config.length) {
    return;
  }
  var x = field_one();
  if (config.a_length > 0u) {
    let at = i + config.a_shift;
    x = zero_element();
    if (at < config.a_length) {
      x = element(a[at]);
    }
  }
  // One product in a loop, because compilers inline every call.
  var j = i;
  if (config.reversed_bits > 0u) {
    j = reverseBits(i) >> (32u - config.reversed_bits);
  }
  for (var turn = 0u; turn < config.products; turn++) {
    var packed = Packed({{#factor}}vec4<u32>({{vector}}), {{/factor}});
    if (config.low > 0u) {
      var at = j & (config.low - 1u);
      if (turn > 0u) {
        at = config.low + j / config.low;
      }
      packed = b[at];
    } else if (config.b_length > 0u) {
      let at = i + config.b_shift;
      packed = packed_zero();
      if (at < config.b_length) {
        packed = b[at];
      }
    }
    x = field_mul(field_loose(x), element(packed));
  }
  let at = i + config.c_shift;
  if (at < config.c_length) {
    let z = element(c[at]);
    if (config.subtracts > 0u) {
      x = element_minus(x, z);
    } else {
      x = element_plus(x, z);
    }
  }
  if (config.canonical > 0u) {
    out[i] = field_pack(field_canonical(x));
  } else {
    out[i] = field_pack_any(x);
  }
}
