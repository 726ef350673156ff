// Arithmetic modulo the {{fieldBits}}-bit prime {{modulusHex}}.
//
// Elements are in Montgomery form. In memory they are Packed: little-endian words, canonical. How they are held for arithmetic is the product's to
// say: in field-limbs.wgsl or field-words.wgsl, which have the same functions. Their types say how far a value may be from the canonical one, so
// that a sum that a product could not take does not compile:
//   Canonical  in [0, p)
//   Tight      what products give
//   Loose      sums and differences of two of a kind
// Struct members instead of arrays: nothing here can be indexed dynamically, so everything can live in registers.

{{> packed}}

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
{{#inLimbs}}

{{> field_limbs}}
{{/inLimbs}}
{{#inWords}}

{{> field_words}}
{{/inWords}}
