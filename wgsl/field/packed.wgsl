// An element in memory: little-endian words, in vectors of four.
struct Packed {
{{#vectors}}
  v{{i}}: vec4<u32>,
{{/vectors}}
}

fn packed_zero() -> Packed {
  return Packed({{#vectors}}vec4<u32>(0u), {{/vectors}});
}

fn packed_is_zero(a: Packed) -> bool {
  return all(({{#vectors}}a.v{{i}} | {{/vectors}}vec4<u32>(0u)) == vec4<u32>(0u));
}

fn packed_equal(a: Packed, b: Packed) -> bool {
  return all(({{#vectors}}(a.v{{i}} ^ b.v{{i}}) | {{/vectors}}vec4<u32>(0u)) == vec4<u32>(0u));
}
