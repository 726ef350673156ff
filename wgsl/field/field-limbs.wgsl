// Elements in {{limbCount}} signed limbs of {{limbBits}} bits, as u32 in two's complement, for products of src/field/product.ts:
//   Canonical  limbs in [0, 2^{{limbBits}}), value in [0, p)
//   Tight      limbs at most 2^{{limbBits}}/2 + 2^7 from 0, value at most 3p from 0: what products give
//   Loose      limbs at most 2^{{limbBits}} + 2^8 from 0, value at most 6p from 0: differences of two of a kind
// That nothing overflows is proved where the products are made. CPU twin: tests/reference/field.ts.

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

// 3·a + b. Of products that is within 4p of 0: a little more than a Tight may be, but its products with what is within 4p come to 16·p² and may to 18·p².
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
