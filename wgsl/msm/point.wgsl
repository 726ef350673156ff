// A point in memory: affine, with coordinates in Montgomery form. Infinity is (0, 0), which is on
// no curve with b other than 0.
struct Point {
  x: Packed,
  y: Packed,
}

fn point_infinity() -> Point {
  return Point(packed_zero(), packed_zero());
}

fn point_is_infinity(a: Point) -> bool {
  return packed_is_zero(a.x) && packed_is_zero(a.y);
}
