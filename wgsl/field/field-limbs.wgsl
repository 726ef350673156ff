// Elements in {{limbCount}} signed limbs of {{limbBits}} bits, as u32 in two's complement, for the
// products of src/field/product.ts:
//   Canonical  limbs in [0, 2^{{limbBits}}), value in [0, p)
//   Tight      limbs within 2^{{limbBits}}/2 + 2^7 of 0, value within 3p of 0: results of products
//   Loose      limbs within 2^{{limbBits}} + 2^8 of 0, value within 6p of 0: differences of two
//     elements of one type
// src/field/product.ts proves that nothing overflows. CPU reference: tests/reference/field.ts.

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

// Carries limbs of up to 20 bits; the value, within 3p of 0, stays.
fn field_tighten(a: Loose) -> Tight {
{{#tighten}}
{{#statements}}
  {{statement}}
{{/statements}}
  return Tight({{result}});
{{/tighten}}
}

// Returns ⌊a / p + shift⌋ from the top limbs. The limbs below change the quotient by less than
// 2^-14.9, and the rounding of three f32 by less than 2^-19.
fn field_quotient(a: Tight, shift: f32) -> u32 {
  let top = {{topLimbs}};
  return bitcast<u32>(i32(floor(f32(bitcast<i32>(top)) * {{perModulus}} + shift)));
}

// Returns a - k·p in nonnegative limbs, but for the last one, which has the sign.
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

// Returns the number in [0, p) that is congruent to a. The first quotient is one too large if a is
// less than 2^-13·p below it.
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

// Returns the words of a number in [0, (1 + 2^-13)·p) that is congruent to a, for elements that are
// multiplied but never compared. It is the canonical number if the words have no room for more.
fn field_pack_any(a: Tight) -> Packed {
{{#roomInWords}}
  return field_pack(field_less(a, field_quotient(a, -{{margin}})));
{{/roomInWords}}
{{^roomInWords}}
  return field_pack(field_canonical(a));
{{/roomInWords}}
}

// Returns 3·a + b. For products it is within 4p of 0, which is more than the bound of Tight. Its
// products with elements within 4p are at most 16·p², and 18·p² is allowed.
fn field_triple_plus(a: Tight, b: Tight) -> Tight {
  return field_tighten(Loose(
{{#limbs}}
    3u * a.l{{i}} + b.l{{i}},
{{/limbs}}
  ));
}

fn field_minus_twice(a: Tight, b: Tight) -> Tight {
  return field_tighten(Loose(
{{#limbs}}
    a.l{{i}} - 2u * b.l{{i}},
{{/limbs}}
  ));
}
{{#held}}

// The constants of products, in a variable, because SwiftShader is slow at literals
// (src/field/held.ts).
struct Held {
{{#constants}}
  {{name}}: {{type}},
{{/constants}}
}

var<private> held: Held;

// Sets the constants, before the first product. `zero` is 0, which compilers cannot know.
fn hold_constants(zero: u32) {
  held = Held(
{{#constants}}
    {{value}},
{{/constants}}
  );
}
{{/held}}
{{#products}}

// Returns a·b·R⁻¹, or a²·R⁻¹ without b, minus the other operands. The product is within p of 0.
fn {{name}}({{parameters}}) -> Tight {
{{#statements}}
  {{statement}}
{{/statements}}
  return Tight({{result}});
}
{{/products}}
