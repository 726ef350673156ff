// Arithmetic modulo the {{fieldBits}}-bit prime {{modulusHex}}.
//
// Elements are in Montgomery form (Montgomery 1985). In memory they are Packed: little-endian
// words, canonical. The kind of product decides how registers hold them: field-limbs.wgsl and
// field-words.wgsl have the same functions. The types state how far a value may be from the
// canonical one, so that a sum that is too large for a product does not compile:
//   Canonical  in [0, p)
//   Tight      results of products
//   Loose      sums and differences of two elements of one type
// Elements are structs and not arrays: nothing here is indexed dynamically, so everything can be in
// registers.

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
{{#inLimbs}}

{{> field_limbs}}
{{/inLimbs}}
{{#inWords}}

{{> field_words}}
{{/inWords}}
