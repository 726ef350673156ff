// Elements of a vector. In memory they are in Montgomery form (Montgomery 1985), as the words of a
// number that field_pack_any may leave: congruent, and not always below the prime.
fn element(a: Packed) -> Tight {
  return field_tighten(canonical_loose(field_unpack(a)));
}

fn zero_element() -> Tight {
  return element(packed_zero());
}

fn element_plus(a: Tight, b: Tight) -> Tight {
  return field_tighten(field_plus(a, b));
}

fn element_minus(a: Tight, b: Tight) -> Tight {
  return field_tighten(field_minus(a, b));
}
