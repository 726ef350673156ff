// Arithmetic modulo the {{fieldBits}}-bit prime {{modulusHex}}.
//
// Field: {{limbCount}} limbs of {{limbBits}} bits, Montgomery form, canonical (< p) on the way in and out of every function.
// Packed: the same value as little-endian 32-bit words, the form in memory.
// Generated from the modulus by src/field/wgsl.ts; its CPU twin is src/twins/field.ts. Struct members instead of arrays:
// nothing here can be indexed dynamically, so everything can live in registers.

struct Field {
{{#limbs}}
  l{{i}}: u32,
{{/limbs}}
}

struct Packed {
{{#vectors}}
  v{{i}}: vec4<u32>,
{{/vectors}}
}

fn field_pack(a: Field) -> Packed {
  return Packed(
{{#vectors}}
    vec4<u32>({{words}}),
{{/vectors}}
  );
}

fn field_unpack(a: Packed) -> Field {
  return Field(
    {{unpacked}}
  );
}

fn field_one() -> Field {
  return Field({{one}});
}

// R² mod p: field_mul(a, field_r_squared()) brings a plain a into Montgomery form.
fn field_r_squared() -> Field {
  return Field({{rSquared}});
}

// The number 1, not in Montgomery form: field_mul(a, field_plain_one()) takes a out of it.
fn field_plain_one() -> Field {
  return Field(1u{{#limbs}}{{^first}}, 0u{{/first}}{{/limbs}});
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

// raw < p, for words that may hold anything. `a` is raw in limbs, which drop what is above them: 15 limbs, as of a 192-bit prime,
// hold 195 of the 256 bits that its words have.
fn packed_is_canonical(raw: Packed, a: Field) -> bool {
{{#limbs}}
  let d{{i}} = a.l{{i}} - {{p}}u{{^first}} - (d{{previous}} >> 31u){{/first}};
{{/limbs}}
  return (d{{lastLimb}} >> 31u) == 1u && packed_equal(field_pack(a), raw);
}

// p - a on words, 0 for 0: a fifth of what it costs to unpack, negate and pack.
fn packed_neg(a: Packed) -> Packed {
  if (packed_is_zero(a)) {
    return a;
  }
{{#modulusWords}}
  let b{{i}} = {{word}} + {{#first}}0u{{/first}}{{^first}}c{{previous}}{{/first}};
  let d{{i}} = {{p}}u - b{{i}};
{{^last}}
  let c{{i}} = select(0u, 1u, {{p}}u < b{{i}}{{^first}} || b{{i}} < c{{previous}}{{/first}});
{{/last}}
{{/modulusWords}}
  return Packed(
{{#vectors}}
    vec4<u32>({{differences}}),
{{/vectors}}
  );
}

// Brings a < 2p into [0, p). Limbs are normalised.
fn field_reduce_once(a: Field) -> Field {
{{#limbs}}
  let d{{i}} = a.l{{i}} - {{p}}u{{^first}} - (d{{previous}} >> 31u){{/first}};
{{/limbs}}
  let keep = 0u - (d{{lastLimb}} >> 31u);
  return Field(
{{#limbs}}
    (a.l{{i}} & keep) | (d{{i}} & {{limbMask}}u & ~keep),
{{/limbs}}
  );
}

// Carries sums of limbs or of columns, which make a number below 2p, into limbs and reduces it.
fn field_carry(a: Field) -> Field {
{{#limbs}}
  let s{{i}} = a.l{{i}}{{^first}} + (s{{previous}} >> {{limbBits}}u){{/first}};
{{/limbs}}
  return field_reduce_once(Field(
{{#limbs}}
    s{{i}} & {{limbMask}}u,
{{/limbs}}
  ));
}

fn field_add(a: Field, b: Field) -> Field {
  return field_carry(Field(
{{#limbs}}
    a.l{{i}} + b.l{{i}},
{{/limbs}}
  ));
}

fn field_sub(a: Field, b: Field) -> Field {
{{#limbs}}
  let d{{i}} = a.l{{i}} - b.l{{i}}{{^first}} - (d{{previous}} >> 31u){{/first}};
{{/limbs}}
  let borrow = 0u - (d{{lastLimb}} >> 31u);
{{#limbs}}
  let s{{i}} = (d{{i}} & {{limbMask}}u) + ({{p}}u & borrow){{^first}} + (s{{previous}} >> {{limbBits}}u){{/first}};
{{/limbs}}
  return Field(
{{#limbs}}
    s{{i}} & {{limbMask}}u,
{{/limbs}}
  );
}

fn field_neg(a: Field) -> Field {
  return field_sub(Field({{#limbs}}0u, {{/limbs}}), a);
}

fn field_double(a: Field) -> Field {
  return field_add(a, a);
}

// a·b·R⁻¹: operand scanning with interleaved reduction (Koç, Acar, Kaliski 1996: CIOS). No column exceeds a u32.
fn field_mul(a: Field, b: Field) -> Field {
{{#mulRows}}
  let u{{i}} = {{low}};
  let q{{i}} = (u{{i}} * {{n0}}u) & {{limbMask}}u;
  let c{{i}} = (u{{i}} + q{{i}} * {{p0}}u) >> {{limbBits}}u;
{{#columns}}
  let t{{i}}_{{k}} = {{sum}};
{{/columns}}
{{/mulRows}}
  return field_carry(Field({{columnSums}}, 0u));
}

fn field_square(a: Field) -> Field {
{{#limbs}}
{{^first}}
  let d{{i}} = a.l{{i}} << 1u;
{{/first}}
{{/limbs}}
{{#squareRows}}
  let u{{i}} = {{low}};
  let q{{i}} = (u{{i}} * {{n0}}u) & {{limbMask}}u;
  let c{{i}} = (u{{i}} + q{{i}} * {{p0}}u) >> {{limbBits}}u;
{{#columns}}
  let t{{i}}_{{k}} = {{sum}};
{{/columns}}
{{/squareRows}}
  return field_carry(Field({{columnSums}}, 0u));
}
