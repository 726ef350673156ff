// Arithmetic modulo the {{fieldBits}}-bit prime {{modulusHex}}.
//
// Elements are in Montgomery form, in {{limbCount}} signed limbs of {{limbBits}} bits, as u32 in two's complement. Their types say how far limbs and value may be from
// the canonical ones, so that a sum that a product could not take does not compile:
//   Packed     little-endian words, canonical: the form in memory
//   Canonical  limbs in [0, 2^{{limbBits}}), value in [0, p)
//   Tight      limbs at most 2^{{limbBits}}/2 + 2^7 from 0, value at most 3p from 0: what products give
//   Loose      limbs at most 2^{{limbBits}} + 2^8 from 0, value at most 6p from 0: differences of two of a kind
// The code of products, and that nothing in it overflows, come from src/field/product.ts; its CPU twin is src/twins/field.ts. Struct
// members instead of arrays: nothing here can be indexed dynamically, so everything can live in registers.

struct Packed {
{{#vectors}}
  v{{i}}: vec4<u32>,
{{/vectors}}
}

struct Canonical {
{{#limbs}}
  l{{i}}: u32,
{{/limbs}}
}

struct Tight {
{{#limbs}}
  l{{i}}: u32,
{{/limbs}}
}

struct Loose {
{{#limbs}}
  l{{i}}: u32,
{{/limbs}}
}

fn field_pack(a: Canonical) -> Packed {
  return Packed(
{{#vectors}}
    vec4<u32>({{words}}),
{{/vectors}}
  );
}

fn field_unpack(a: Packed) -> Canonical {
  return Canonical(
    {{unpacked}}
  );
}

fn field_one() -> Tight {
  return Tight({{one}});
}

// R² mod p: its product with a plain number brings that into Montgomery form.
fn field_r_squared() -> Tight {
  return Tight({{rSquared}});
}

fn field_loose(a: Tight) -> Loose {
  return Loose({{#limbs}}a.l{{i}}, {{/limbs}});
}

fn canonical_loose(a: Canonical) -> Loose {
  return Loose({{#limbs}}a.l{{i}}, {{/limbs}});
}

fn canonical_minus(a: Canonical, b: Canonical) -> Loose {
  return Loose(
{{#limbs}}
    a.l{{i}} - b.l{{i}},
{{/limbs}}
  );
}

fn field_minus(a: Tight, b: Tight) -> Loose {
  return Loose(
{{#limbs}}
    a.l{{i}} - b.l{{i}},
{{/limbs}}
  );
}

fn field_plus(a: Tight, b: Tight) -> Loose {
  return Loose(
{{#limbs}}
    a.l{{i}} + b.l{{i}},
{{/limbs}}
  );
}

// The same value, at most 3p from 0, in carried limbs. Takes limbs of up to 20 bits.
fn field_tighten(a: Loose) -> Tight {
{{#tighten}}
{{#statements}}
  {{statement}}
{{/statements}}
  return Tight({{result}});
{{/tighten}}
}

// ⌊a / p + shift⌋, read off the top limbs: the limbs below move the quotient by less than 2^-14.9, and the rounding of three f32 by
// less than 2^-19.
fn field_quotient(a: Tight, shift: f32) -> u32 {
  let top = {{topLimbs}};
  return bitcast<u32>(i32(floor(f32(bitcast<i32>(top)) * {{perModulus}} + shift)));
}

// a - k·p in limbs from 0 up; the last one has the sign.
fn field_less(a: Tight, k: u32) -> Canonical {
{{#chain}}
  let s{{i}} = a.l{{i}} - k * {{p}}u{{^first}} + g{{previous}}{{/first}};
{{^last}}
  let c{{i}} = s{{i}} & {{limbMask}}u;
  let g{{i}} = {{carry}};
{{/last}}
{{/chain}}
  return Canonical({{#chain}}{{^last}}c{{i}}, {{/last}}{{/chain}}s{{lastLimb}});
}

// The number in [0, p) that is congruent to a. The first quotient is one too large where less than 2^-13 of p is missing to it.
fn field_canonical(a: Tight) -> Canonical {
  var k = field_quotient(a, {{margin}});
  var r: Canonical;
  loop {
    r = field_less(a, k);
    if (bitcast<i32>(r.l{{lastLimb}}) >= 0) {
      break;
    }
    k -= 1u;
  }
  return r;
}

// Words of a number in [0, (1 + 2^-13)·p) that is congruent to a: for what is unpacked and multiplied, and never compared. The canonical
// number where the words have no room for that.
fn field_pack_any(a: Tight) -> Packed {
{{#roomInWords}}
  return field_pack(field_less(a, field_quotient(a, -{{margin}})));
{{/roomInWords}}
{{^roomInWords}}
  return field_pack(field_canonical(a));
{{/roomInWords}}
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

// a < p, for words that may hold anything.
fn packed_is_canonical(a: Packed) -> bool {
{{#modulusWords}}
  let b{{i}} = {{word}} < {{p}}u{{^first}} || ({{word}} == {{p}}u && b{{previous}}){{/first}};
{{/modulusWords}}
  return b{{lastWord}};
}

// `a`, or where `negate` says so p - a, on words: a fifth of what it costs to unpack, negate and pack. 0 stays 0.
fn packed_negated(a: Packed, negate: bool) -> Packed {
{{#modulusWords}}
  let b{{i}} = {{word}} + {{#first}}0u{{/first}}{{^first}}c{{previous}}{{/first}};
  let d{{i}} = {{p}}u - b{{i}};
{{^last}}
  let c{{i}} = select(0u, 1u, ({{p}}u < b{{i}}){{^first}} | (b{{i}} < c{{previous}}){{/first}});
{{/last}}
{{/modulusWords}}
  let changes = negate & !packed_is_zero(a);
  return Packed(
{{#vectors}}
    select(a.v{{i}}, vec4<u32>({{differences}}), changes),
{{/vectors}}
  );
}
{{#held}}

// The constants of products, in a variable: SwiftShader is slow at literals (src/field/held.ts).
struct Held {
{{#constants}}
  {{name}}: {{type}},
{{/constants}}
}

var<private> held: Held;

// Before the first product. `zero` is 0, and no compiler can tell.
fn hold_constants(zero: u32) {
  held = Held(
{{#constants}}
    {{value}},
{{/constants}}
  );
}
{{/held}}
{{#products}}

// a·b·R⁻¹ (b is a where there is none), less what else is given. Value: within p of 0, less that.
fn {{name}}({{parameters}}) -> Tight {
{{#statements}}
  {{statement}}
{{/statements}}
  return Tight({{result}});
}
{{/products}}
