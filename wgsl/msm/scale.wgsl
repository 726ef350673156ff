// scale: multiplies every point by one of a few scalars, for setups: all points of a section by one
// number, or each by a power of it. One thread per point. Only for curves y² = x³ + b, which have
// the endomorphism φ(x, y) = (β·x, y) (src/curves/halving.ts).
//
// A scalar is two halves, and a product the sum of half 0 times P and half 1 times φ(P). Halves are
// in non-adjacent form (Reitwiesner 1960): digits -1, 0 and 1, of which a third are not 0. Each
// scalar is four planes of bits: where half 0 has digit 1, where it has -1, and the same of half 1.
// From the highest position on the thread doubles its sum, and adds ±P and ±φ(P) as the digits say.
// All threads take the same steps if all points share a scalar.
//
// Sums are in Jacobian coordinates (X : Y : Z) with x = X/Z² and y = Y/Z³; Z = 0 is infinity, which
// doublings keep. An addition looks for infinity, for the same point, which it doubles, and for the
// opposite one, which gives infinity, so that no point and no scalar has a wrong result.
// `products[i].x` has β·x until the product is there.
//
// The points are as the import leaves them; the result is plain numbers times each of the factors.
// Host: src/msm/stages/scale.ts. CPU reference: tests/reference/scale.ts.
{{structs}}
{{> field}}
{{> inverse}}
const MATRICES = {{matrices}}u;
{{> point}}
{{> hash_chain}}

{{bindings}}

// Steps of a doubling (dbl-2009-l of the Explicit-Formulas Database), one product each.
const DOUBLE = 0u;
const Y_SQUARE = 0u;       // s = 2·y²
const NEXT_Z = 1u;         // z' = 2·y·z
const S_SQUARE = 2u;       // y = 2·s²
const X_BY_S = 3u;         // s = 2·x·s
const X_SQUARE = 4u;       // m = 3·x²
const M_SQUARE = 5u;       // x' = m² - 2·s
const DOUBLE_Y = 6u;       // y' = (s - x')·m - y
// Steps of an addition of an affine point (x2, y2) (madd of the same database), likewise.
const ADD = 7u;
const Z_SQUARE = 7u;       // s = z²
const DIFFERENCE_X = 8u;   // h = x2·s - x
const LIFT_Y = 9u;         // m = z·y2
const DIFFERENCE_Y = 10u;  // m = m·s - y
const H_SQUARE = 11u;      // s = h²
const Z_BY_H = 12u;        // z' = z·h
const X_BY_SQUARE = 13u;   // x = x·s
const CUBE = 14u;          // h = h·s
const Y_BY_CUBE = 15u;     // y = y·h
const NEXT_X = 16u;        // h = x' = m² - h - 2·x
const NEXT_Y = 17u;        // y' = (x - x')·m - y
// The step that computes β·x.
const IMAGE = 18u;
const END = 19u;

// Returns whether an element is 0 modulo p.
fn is_zero(a: Tight) -> bool {
  return packed_is_zero(field_pack(field_canonical(a)));
}

fn element(a: Packed) -> Tight {
  return field_tighten(canonical_loose(field_unpack(a)));
}

// Returns the bit of a plane at a position.
fn bit(plane: u32, position: u32) -> bool {
  return ((digits[plane * config.plane_words + (position >> 5u)] >> (position & 31u)) & 1u) != 0u;
}

@compute @workgroup_size({{threads}})
fn scale(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.x + id.y * groups.x * {{threads}}u;
  if (!continue_chain(i == 0u) || i >= config.points) {
    return;
  }
  unseen_zero = config.points >> 31u;
  if (point_is_infinity(points[i])) {
    for (var k = 0u; k < config.factors; k++) {
      products[k * config.points + i] = point_infinity();
    }
    return;
  }
  let planes = 4u * which[i];
  var x = field_one();
  var y = x;
  var z = field_tighten(field_minus(x, x));
  for (var above = config.positions; above > 0u; above--) {
    let position = above - 1u;
    // turn 0 doubles, or at first computes β·x; turn 1 adds ±P, turn 2 adds ±φ(P)
    for (var turn = 0u; turn < 3u + unseen_zero; turn++) {
      var step = DOUBLE;
      var end = ADD;
      var negate = false;
      if (turn == 0u) {
        if (above == config.positions) {
          step = IMAGE;
          end = END;
        }
      } else {
        let plane = planes + 2u * (turn - 1u);
        negate = bit(plane + 1u, position);
        if (!negate && !bit(plane, position)) {
          continue;
        }
        if (is_zero(z)) {
          x = element(points[i].x);
          if (turn == 2u) {
            x = element(products[i].x);
          }
          y = element(packed_negated(points[i].y, negate));
          z = field_one();
          continue;
        }
        step = ADD;
        end = IMAGE;
      }
      var s = x;
      var m = x;
      var h = x;
      // One product in a loop: the instruction cache of a GPU has no room for more, and compilers
      // inline every call.
      while (step < end) {
        var left = s;
        var right = s;
        if (step == Y_SQUARE) {
          left = y;
          right = y;
        } else if (step == NEXT_Z) {
          left = field_tighten(field_plus(y, y));
          right = z;
        } else if (step == X_BY_S) {
          left = field_tighten(field_plus(x, x));
        } else if (step == X_SQUARE) {
          left = x;
          right = x;
        } else if (step == M_SQUARE || step == NEXT_X) {
          left = m;
          right = m;
        } else if (step == DOUBLE_Y) {
          left = field_tighten(field_minus(s, x));
          right = m;
        } else if (step == Z_SQUARE) {
          left = z;
          right = z;
        } else if (step == DIFFERENCE_X) {
          left = element(points[i].x);
          if (turn == 2u) {
            left = element(products[i].x);
          }
        } else if (step == LIFT_Y) {
          left = z;
          right = element(packed_negated(points[i].y, negate));
        } else if (step == DIFFERENCE_Y) {
          left = m;
        } else if (step == H_SQUARE) {
          left = h;
          right = h;
        } else if (step == Z_BY_H) {
          left = z;
          right = h;
        } else if (step == X_BY_SQUARE) {
          left = x;
        } else if (step == CUBE) {
          left = h;
        } else if (step == Y_BY_CUBE) {
          left = y;
          right = h;
        } else if (step == NEXT_Y) {
          left = field_tighten(field_minus(x, h));
          right = m;
        } else if (step == IMAGE) {
          left = Tight({{beta}});
          right = element(points[i].x);
        }
        let product = field_mul(field_loose(left), right);
        if (step == Y_SQUARE) {
          s = field_tighten(field_plus(product, product));
        } else if (step == NEXT_Z || step == Z_BY_H) {
          z = product;
        } else if (step == S_SQUARE) {
          y = field_tighten(field_plus(product, product));
        } else if (step == X_BY_S || step == Z_SQUARE || step == H_SQUARE) {
          s = product;
        } else if (step == X_SQUARE) {
          m = field_tighten(field_plus(field_tighten(field_plus(product, product)), product));
        } else if (step == M_SQUARE) {
          x = field_minus_twice(product, s);
        } else if (step == DOUBLE_Y) {
          y = field_tighten(field_minus(product, y));
        } else if (step == DIFFERENCE_X) {
          h = field_tighten(field_minus(product, x));
        } else if (step == LIFT_Y) {
          m = product;
        } else if (step == DIFFERENCE_Y) {
          m = field_tighten(field_minus(product, y));
          if (is_zero(h)) {
            if (!is_zero(m)) {
              z = h;
              break;
            }
            // the sum is the point: it is doubled, in the steps before those of an addition
            step = DOUBLE;
            end = ADD;
            continue;
          }
        } else if (step == X_BY_SQUARE) {
          x = product;
        } else if (step == CUBE) {
          h = product;
        } else if (step == Y_BY_CUBE) {
          y = product;
        } else if (step == NEXT_X) {
          h = field_minus_twice(field_tighten(field_minus(product, h)), x);
        } else if (step == NEXT_Y) {
          y = field_tighten(field_minus(product, y));
          x = h;
        } else {
          products[i].x = field_pack(field_canonical(product));
        }
        step += 1u;
      }
    }
  }
  // y/z³ and x/z², and both times each factor; one product in a loop, because this runs once. As the
  // inverse of 0 is 0, infinity is stored as zeros.
  let inverse = field_inverse(z);
  var carried = y;
  for (var step = 0u; step < 5u + 2u * config.factors; step++) {
    var left = inverse;
    let k = (step - min(step, 5u)) >> 1u;
    let is_x = (step & 1u) == 1u;
    if (step >= 5u) {
      left = element(factors[k]);
      carried = y;
      if (is_x) {
        carried = x;
      }
    }
    let product = field_mul(field_loose(left), carried);
    carried = product;
    if (step == 2u) {
      y = product;
      carried = x;
    } else if (step == 4u) {
      x = product;
    } else if (step > 4u && is_x) {
      products[k * config.points + i].x = field_pack(field_canonical(product));
    } else if (step > 4u) {
      products[k * config.points + i].y = field_pack(field_canonical(product));
    }
  }
}
