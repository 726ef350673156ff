// Arithmetic in the field of p² elements, pairs c0 + c1·u with u² = {{nonResidue}}. It has the same
// functions as field.wgsl, so that all stages are the same. The functions of the prime field are
// below, under the names Prime and prime_. In memory c0 comes before c1. Test against BigInts:
// tests/stages/quadratic.test.ts.
{{primeField}}

{{> packed}}

struct Canonical {
  c0: PrimeCanonical,
  c1: PrimeCanonical,
}

alias Words = Canonical;
alias Tight = Canonical;
alias Loose = Canonical;

fn packed_first(a: Packed) -> PrimePacked {
  return PrimePacked({{#firstVectors}}a.v{{i}}, {{/firstVectors}});
}

fn packed_second(a: Packed) -> PrimePacked {
  return PrimePacked({{#secondVectors}}a.v{{i}}, {{/secondVectors}});
}

fn packed_pair(c0: PrimePacked, c1: PrimePacked) -> Packed {
  return Packed({{#firstVectors}}c0.v{{i}}, {{/firstVectors}}{{#firstVectors}}c1.v{{i}}, {{/firstVectors}});
}

fn packed_is_canonical(a: Packed) -> bool {
  return prime_packed_is_canonical(packed_first(a)) && prime_packed_is_canonical(packed_second(a));
}

fn packed_negated(a: Packed, negate: bool) -> Packed {
  return packed_pair(prime_packed_negated(packed_first(a), negate), prime_packed_negated(packed_second(a), negate));
}

fn field_pack(a: Canonical) -> Packed {
  return packed_pair(prime_field_pack(a.c0), prime_field_pack(a.c1));
}

fn field_pack_any(a: Tight) -> Packed {
  return packed_pair(prime_field_pack_any(a.c0), prime_field_pack_any(a.c1));
}

fn field_unpack(a: Packed) -> Canonical {
  return Canonical(prime_field_unpack(packed_first(a)), prime_field_unpack(packed_second(a)));
}

fn prime_zero() -> PrimeTight {
  return PrimeTight({{zero}});
}

fn field_one() -> Tight {
  return Tight(prime_field_one(), prime_zero());
}
{{#coefficientwise}}

fn {{name}}(a: {{of}}{{#two}}, b: {{of}}{{/two}}) -> {{gives}} {
  return {{gives}}(prime_{{name}}(a.c0{{#two}}, b.c0{{/two}}), prime_{{name}}(a.c1{{#two}}, b.c1{{/two}}));
}
{{/coefficientwise}}

// Returns {{nonResidue}} times a.
fn times_non_residue(a: PrimeWords) -> PrimeWords {
{{#chain}}
  let m{{i}} = {{value}};
{{/chain}}
  return {{multiple}};
}

// Karatsuba multiplication with one product in a loop, because compilers inline every call: a0·b0,
// (a0 + a1)·(b0 + b1), a1·b1. The next operands replace the previous ones, so that few values are
// live. `turns` is 3, which compilers cannot know: below 2p the topmost bit is 0.
fn field_mul(a: Words, b: Words) -> Words {
  let turns = 3u + (a.c0.w{{lastWordOfAll}} >> 31u);
  var left = a.c0;
  var right = b.c0;
  var result = Words(prime_zero(), prime_zero());
  for (var turn = 0u; turn < turns; turn++) {
    let product = prime_field_mul(left, right);
    if (turn == 1u) {
      result.c1 = prime_field_plus(result.c1, product);
      left = a.c1;
      right = b.c1;
    } else {
      result.c1 = prime_field_minus(result.c1, product);
      if (turn == 0u) {
        result.c0 = product;
        left = prime_field_plus(left, a.c1);
        right = prime_field_plus(right, b.c1);
      } else {
        result.c0 = prime_field_plus(result.c0, times_non_residue(product));
      }
    }
  }
  return result;
}

fn field_square(a: Words) -> Words {
  return field_mul(a, a);
}

fn field_mul_minus(a: Words, b: Words, c: Canonical) -> Words {
  return field_minus(field_mul(a, b), c);
}

fn field_square_minus(a: Words, c: Canonical, d: Canonical) -> Words {
  return field_minus(field_square(a), words_sum(c, d));
}
