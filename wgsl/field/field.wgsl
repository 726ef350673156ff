// Arithmetic modulo the {{fieldBits}}-bit prime {{modulusHex}}.
//
// Elements are in Montgomery form (Montgomery 1985). In memory they are Packed: little-endian
// words, canonical. Registers hold {{wordCount}} words below 2p, and R is at least 4p, so that the
// product of any two elements is below 2p again. Sums are computed in words with carries. The
// products are those of src/field/products.ts. The types are one type, whose names state how far a
// value may be from the canonical one:
//   Canonical  in [0, p)
//   Tight      results of products
//   Loose      sums and differences of two elements of one type
// Elements are structs and not arrays: nothing here is indexed dynamically, so everything can be in
// registers. CPU reference of the products: tests/reference/field.ts.
//
// Names have a prefix where quadratic.wgsl, which has functions of the same names, includes this
// file; in all other shaders it is empty.

{{> packed}}

// Returns whether a < p, for arbitrary words.
fn {{prime_}}packed_is_canonical(a: {{Prime}}Packed) -> bool {
{{#modulusWords}}
  let b{{i}} = {{word}} < {{p}}u{{^first}} || ({{word}} == {{p}}u && b{{previous}}){{/first}};
{{/modulusWords}}
  return b{{lastWord}};
}

// Returns p - a if `negate`, else a, on words: a fifth of the cost of unpacking, negating and
// packing. 0 stays 0.
fn {{prime_}}packed_negated(a: {{Prime}}Packed, negate: bool) -> {{Prime}}Packed {
{{#modulusWords}}
  let b{{i}} = {{word}} + {{#first}}0u{{/first}}{{^first}}c{{previous}}{{/first}};
  let d{{i}} = {{p}}u - b{{i}};
{{^last}}
  let c{{i}} = select(0u, 1u, ({{p}}u < b{{i}}){{^first}} | (b{{i}} < c{{previous}}){{/first}});
{{/last}}
{{/modulusWords}}
  let changes = negate & !{{prime_}}packed_is_zero(a);
  return {{Prime}}Packed(
{{#vectors}}
    select(a.v{{i}}, vec4<u32>({{differences}}), changes),
{{/vectors}}
  );
}

struct {{Prime}}Words {
{{#words}}
  w{{i}}: u32,
{{/words}}
}

alias {{Prime}}Canonical = {{Prime}}Words;
alias {{Prime}}Tight = {{Prime}}Words;
alias {{Prime}}Loose = {{Prime}}Words;

fn {{prime_}}field_pack(a: {{Prime}}Canonical) -> {{Prime}}Packed {
  return {{Prime}}Packed(
{{#vectors}}
    vec4<u32>({{words}}),
{{/vectors}}
  );
}

fn {{prime_}}field_unpack(a: {{Prime}}Packed) -> {{Prime}}Canonical {
  return {{Prime}}Words({{unpackedWords}});
}

fn {{prime_}}field_one() -> {{Prime}}Tight {
  return {{Prime}}Words({{one}});
}

fn {{prime_}}words_sum(a: {{Prime}}Words, b: {{Prime}}Words) -> {{Prime}}Words {
{{#words}}
  let t{{i}} = a.w{{i}} + b.w{{i}};
  let s{{i}} = t{{i}}{{^first}} + c{{previous}}{{/first}};
{{^last}}
  let c{{i}} = select(0u, 1u, (t{{i}} < a.w{{i}}){{^first}} | (s{{i}} < c{{previous}}){{/first}});
{{/last}}
{{/words}}
  return {{Prime}}Words({{#words}}s{{i}}, {{/words}});
}

struct {{Prime}}Difference {
  words: {{Prime}}Words,
  borrow: u32,
}

fn {{prime_}}words_difference(a: {{Prime}}Words, b: {{Prime}}Words) -> {{Prime}}Difference {
{{#words}}
  let t{{i}} = a.w{{i}} - b.w{{i}};
  let d{{i}} = t{{i}}{{^first}} - c{{previous}}{{/first}};
  let c{{i}} = select(0u, 1u, (a.w{{i}} < b.w{{i}}){{^first}} | (t{{i}} < c{{previous}}){{/first}});
{{/words}}
  return {{Prime}}Difference({{Prime}}Words({{#words}}d{{i}}, {{/words}}), c{{lastWordOfAll}});
}

// Returns a - b if a >= b, else a.
fn {{prime_}}words_reduced(a: {{Prime}}Words, b: {{Prime}}Words) -> {{Prime}}Words {
  let less = {{prime_}}words_difference(a, b);
  return {{Prime}}Words(
{{#words}}
    select(less.words.w{{i}}, a.w{{i}}, less.borrow != 0u),
{{/words}}
  );
}

fn {{prime_}}field_loose(a: {{Prime}}Tight) -> {{Prime}}Loose {
  return a;
}

fn {{prime_}}canonical_loose(a: {{Prime}}Canonical) -> {{Prime}}Loose {
  return a;
}

fn {{prime_}}field_tighten(a: {{Prime}}Loose) -> {{Prime}}Tight {
  return a;
}

fn {{prime_}}canonical_minus(a: {{Prime}}Canonical, b: {{Prime}}Canonical) -> {{Prime}}Loose {
  return {{prime_}}words_sum(a, {{prime_}}words_difference({{Prime}}Words({{modulus}}), b).words);
}

fn {{prime_}}field_minus(a: {{Prime}}Tight, b: {{Prime}}Tight) -> {{Prime}}Loose {
  let less = {{prime_}}words_difference(a, b);
  let again = 0u - less.borrow;
  return {{prime_}}words_sum(less.words, {{Prime}}Words({{#words}}{{twice}}u & again, {{/words}}));
}

fn {{prime_}}field_plus(a: {{Prime}}Tight, b: {{Prime}}Tight) -> {{Prime}}Loose {
  return {{prime_}}words_reduced({{prime_}}words_sum(a, b), {{Prime}}Words({{twiceModulus}}));
}

fn {{prime_}}field_triple_plus(a: {{Prime}}Tight, b: {{Prime}}Tight) -> {{Prime}}Tight {
  return {{prime_}}field_plus({{prime_}}field_plus({{prime_}}field_plus(a, a), a), b);
}

fn {{prime_}}field_minus_twice(a: {{Prime}}Tight, b: {{Prime}}Tight) -> {{Prime}}Tight {
  return {{prime_}}field_minus({{prime_}}field_minus(a, b), b);
}

fn {{prime_}}field_canonical(a: {{Prime}}Tight) -> {{Prime}}Canonical {
  return {{prime_}}words_reduced(a, {{Prime}}Words({{modulus}}));
}

// Packs an element that is multiplied but never compared: any value whose words fit the memory
// format.
fn {{prime_}}field_pack_any(a: {{Prime}}Tight) -> {{Prime}}Packed {
{{#roomInWords}}
  return {{prime_}}field_pack(a);
{{/roomInWords}}
{{^roomInWords}}
  return {{prime_}}field_pack({{prime_}}field_canonical(a));
{{/roomInWords}}
}
{{#dots}}

// A function because naga 30, when it writes Metal, declares a variable named after the operand in
// front of every dot4U8Packed: for an operand of two of them twice. Here each operand has one.
fn {{prime_}}dot4(a: u32, b: u32) -> u32 {
  return dot4U8Packed(a, b);
}
{{/dots}}
{{#products}}

// Returns a·b/R, or a²/R of one operand.
fn {{prime_}}{{name}}(a: {{Prime}}Words{{#two}}, b: {{Prime}}Words{{/two}}) -> {{Prime}}Words {
{{#statements}}
  {{statement}}
{{/statements}}
  return {{Prime}}Words({{result}});
}
{{/products}}
{{^squares}}

fn {{prime_}}field_square(a: {{Prime}}Tight) -> {{Prime}}Tight {
  return {{prime_}}field_mul(a, a);
}
{{/squares}}

fn {{prime_}}field_mul_minus(a: {{Prime}}Loose, b: {{Prime}}Tight, c: {{Prime}}Canonical) -> {{Prime}}Tight {
  return {{prime_}}field_minus({{prime_}}field_mul(a, b), c);
}

fn {{prime_}}field_square_minus(a: {{Prime}}Tight, c: {{Prime}}Canonical, d: {{Prime}}Canonical) -> {{Prime}}Tight {
  return {{prime_}}field_minus({{prime_}}field_square(a), {{prime_}}words_sum(c, d));
}
