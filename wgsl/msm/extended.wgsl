// A point in extended coordinates (XYZZ; Sutherland 2008, in the Explicit-Formulas Database): x =
// X/ZZ and y = Y/ZZZ with ZZ³ = ZZZ². Infinity is all zeros.
struct Extended {
  x: Packed,
  y: Packed,
  zz: Packed,
  zzz: Packed,
}

fn extended_infinity() -> Extended {
  return Extended(packed_zero(), packed_zero(), packed_zero(), packed_zero());
}

fn extended_is_infinity(a: Extended) -> bool {
  return packed_is_zero(a.zz);
}
