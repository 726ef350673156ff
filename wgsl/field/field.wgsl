// Arithmetic modulo the {{fieldBits}}-bit prime {{modulusHex}}.
//
// Elements are in Montgomery form (Montgomery 1985). In memory they are Packed: little-endian
// words, canonical. Registers hold {{wordCount}} words below 2p, and R is at least 4p, so that the
// product of any two elements is below 2p again. Sums are computed in words with carries. The
// products are those of src/field/products.ts. The types
// are one type, whose names state how far a value may be from the canonical one:
//   Canonical  in [0, p)
//   Tight      results of products
//   Loose      sums and differences of two elements of one type
// Elements are structs and not arrays: nothing here is indexed dynamically, so everything can be in
// registers. CPU reference of the products: tests/reference/field.ts.

{{> packed}}

// Returns whether a < p, for arbitrary words.
fn packed_is_canonical(a: Packed) -> bool {
{{#modulusWords}}
  let b{{i}} = {{word}} < {{p}}u{{^first}} || ({{word}} == {{p}}u && b{{previous}}){{/first}};
{{/modulusWords}}
  return b{{lastWord}};
}

// Returns p - a if `negate`, else a, on words: a fifth of the cost of unpacking, negating and
// packing. 0 stays 0.
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

struct Words {
{{#words}}
  w{{i}}: u32,
{{/words}}
}

alias Canonical = Words;
alias Tight = Words;
alias Loose = Words;

fn field_pack(a: Canonical) -> Packed {
  return Packed(
{{#vectors}}
    vec4<u32>({{words}}),
{{/vectors}}
  );
}

fn field_unpack(a: Packed) -> Canonical {
  return Words({{unpackedWords}});
}

fn field_one() -> Tight {
  return Words({{one}});
}

fn words_sum(a: Words, b: Words) -> Words {
{{#words}}
  let t{{i}} = a.w{{i}} + b.w{{i}};
  let s{{i}} = t{{i}}{{^first}} + c{{previous}}{{/first}};
{{^last}}
  let c{{i}} = select(0u, 1u, (t{{i}} < a.w{{i}}){{^first}} | (s{{i}} < c{{previous}}){{/first}});
{{/last}}
{{/words}}
  return Words({{#words}}s{{i}}, {{/words}});
}

struct Difference {
  words: Words,
  borrow: u32,
}

fn words_difference(a: Words, b: Words) -> Difference {
{{#words}}
  let t{{i}} = a.w{{i}} - b.w{{i}};
  let d{{i}} = t{{i}}{{^first}} - c{{previous}}{{/first}};
  let c{{i}} = select(0u, 1u, (a.w{{i}} < b.w{{i}}){{^first}} | (t{{i}} < c{{previous}}){{/first}});
{{/words}}
  return Difference(Words({{#words}}d{{i}}, {{/words}}), c{{lastWordOfAll}});
}

// Returns a - b if a >= b, else a.
fn words_reduced(a: Words, b: Words) -> Words {
  let less = words_difference(a, b);
  return Words(
{{#words}}
    select(less.words.w{{i}}, a.w{{i}}, less.borrow != 0u),
{{/words}}
  );
}

fn field_loose(a: Tight) -> Loose {
  return a;
}

fn canonical_loose(a: Canonical) -> Loose {
  return a;
}

fn field_tighten(a: Loose) -> Tight {
  return a;
}

fn canonical_minus(a: Canonical, b: Canonical) -> Loose {
  return words_sum(a, words_difference(Words({{modulus}}), b).words);
}

fn field_minus(a: Tight, b: Tight) -> Loose {
  let less = words_difference(a, b);
  let again = 0u - less.borrow;
  return words_sum(less.words, Words({{#words}}{{twice}}u & again, {{/words}}));
}

fn field_plus(a: Tight, b: Tight) -> Loose {
  return words_reduced(words_sum(a, b), Words({{twiceModulus}}));
}

fn field_triple_plus(a: Tight, b: Tight) -> Tight {
  return field_plus(field_plus(field_plus(a, a), a), b);
}

fn field_minus_twice(a: Tight, b: Tight) -> Tight {
  return field_minus(field_minus(a, b), b);
}

fn field_canonical(a: Tight) -> Canonical {
  return words_reduced(a, Words({{modulus}}));
}

// Packs an element that is multiplied but never compared: any value whose words fit the memory
// format.
fn field_pack_any(a: Tight) -> Packed {
{{#roomInWords}}
  return field_pack(a);
{{/roomInWords}}
{{^roomInWords}}
  return field_pack(field_canonical(a));
{{/roomInWords}}
}
{{#dots}}

// A function because naga 30, when it writes Metal, declares a variable named after the operand in
// front of every dot4U8Packed: for an operand of two of them twice. Here each operand has one.
fn dot4(a: u32, b: u32) -> u32 {
  return dot4U8Packed(a, b);
}
{{/dots}}
{{#products}}

// Returns a·b/R, or a²/R of one operand.
fn {{name}}(a: Words{{#two}}, b: Words{{/two}}) -> Words {
{{#statements}}
  {{statement}}
{{/statements}}
  return Words({{result}});
}
{{/products}}
{{^squares}}

fn field_square(a: Tight) -> Tight {
  return field_mul(a, a);
}
{{/squares}}

fn field_mul_minus(a: Loose, b: Tight, c: Canonical) -> Tight {
  return field_minus(field_mul(a, b), c);
}

fn field_square_minus(a: Tight, c: Canonical, d: Canonical) -> Tight {
  return field_minus(field_square(a), words_sum(c, d));
}
