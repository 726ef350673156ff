// An element in memory: little-endian words, in vectors of four.
struct {{Prime}}Packed {
{{#vectors}}
  v{{i}}: vec4<u32>,
{{/vectors}}
}

fn {{prime_}}packed_zero() -> {{Prime}}Packed {
  return {{Prime}}Packed({{#vectors}}vec4<u32>(0u), {{/vectors}});
}

fn {{prime_}}packed_is_zero(a: {{Prime}}Packed) -> bool {
  return all(({{#vectors}}a.v{{i}} | {{/vectors}}vec4<u32>(0u)) == vec4<u32>(0u));
}

fn {{prime_}}packed_equal(a: {{Prime}}Packed, b: {{Prime}}Packed) -> bool {
  return all(({{#vectors}}(a.v{{i}} ^ b.v{{i}}) | {{/vectors}}vec4<u32>(0u)) == vec4<u32>(0u));
}
