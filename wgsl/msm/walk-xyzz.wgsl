// walk_xyzz: the stream walker with sums in extended coordinates. It has the tasks and carries of
// walk.wgsl, and gives each sum one writer by the same rules (runs.wgsl).
//
// An addition in these coordinates takes no inversion, so a thread has one task and keeps its sum
// in registers: 10 products to add an affine point, 14 to add a sum (madd-2008-s, add-2008-s and
// dbl-2008-s-1 of the Explicit-Formulas Database). An affine addition that shares its inversion
// among 8 slots takes as many, and waits for private memory between them. On an H200 this walk is
// the faster one (docs/contributing/decisions/15-coordinates-of-the-walk.md).
//
// The first walk of a stream reads the bases, which are affine. All others read what a walk wrote.
// Normalize converts the last sums (normalize.wgsl).
//
// Accounts are those of walk.wgsl, but for the digest of the sums that the host reads back, which
// normalize computes.
// Host: src/msm/stages/walk-xyzz.ts. CPU reference: tests/reference/walk-xyzz.ts.
{{structs}}
{{entry}}
{{> field}}
{{> extended}}
{{> hash_chain}}
{{level}}

{{bindings}}
{{#instrumented}}
{{> watch}}
{{/instrumented}}

alias Sum = Extended;

fn sum_is_infinity(sum: Sum) -> bool {
  return extended_is_infinity(sum);
}

{{> runs}}

const THREADS = {{threads}}u;

// The sum is not infinity: a bit of the state, besides PRESENT and OPEN of runs.wgsl.
const FINITE = 4u;

// Steps of an addition of a point (x2, y2, zz2, zzz2) to the sum, one product each. An affine point
// has no LIFT and no SCALE. Each step names both operands, because compilers turn short branches
// into selections of eight words, which every step would carry out.
const LIFT_X = 0u;         // x·zz2
const LIFT_Y = 1u;         // y·zzz2
const DIFFERENCE_X = 2u;   // p = x2·zz - x
const DIFFERENCE_Y = 3u;   // r = y2·zzz - y
const SQUARE = 4u;         // p²
const CUBE = 5u;           // p³
const X_BY_SQUARE = 6u;    // q = x·p²
const ZZ_BY_SQUARE = 7u;   // zz·p²
const ZZZ_BY_CUBE = 8u;    // zzz·p³
const Y_BY_CUBE = 9u;      // y·p³
const NEXT_X = 10u;        // x' = r² - p³ - 2·q
const NEXT_Y = 11u;        // y' = (q - x')·r - y·p³
const SCALE_ZZ = 12u;      // zz·p²·zz2
const SCALE_ZZZ = 13u;     // zzz·p³·zzz2

// Returns coordinate `part` of the point at `first`: x, y, zz or zzz.
fn coordinate(first: u32, part: u32, negate: bool) -> Tight {
  return field_tighten(canonical_loose(field_unpack(packed_negated(points[first + part], negate && part == 1u))));
}

fn is_finite(first: u32) -> bool {
  if (config.extended != 0u) {
    return !packed_is_zero(points[first + 2u]);
  }
  return !(packed_is_zero(points[first]) && packed_is_zero(points[first + 1u]));
}

// Returns whether an element is 0 modulo p.
fn is_zero(a: Tight) -> bool {
  return packed_is_zero(field_pack(field_canonical(a)));
}

// Accounts for an entry that was taken in.
fn take(entry: Entry, finite: bool) {
  checksum += digest_of(entry.key, entry.point_ref);
  finite_points += select(0u, config.per_point, finite);
{{#instrumented}}
  taken += 1u;
{{/instrumented}}
}

@compute @workgroup_size({{threads}})
fn walk_xyzz(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let level = levels[config.level];
  let t = id.x + id.y * groups.x * THREADS;
  if (level.digest != level_digest(level) || !continue_chain(t == 0u) || t >= level.tasks) {
    return;
  }
  let is_extended = config.extended != 0u;
  let width = select(2u, 4u, is_extended);
  let last = task_start(level, t + 1u);
  var i = task_start(level, t);
  // both carries are absent at first; those of an empty task have the key before it
  var run_key = 0u;
  var last_key = 0u;
  var flags = 0u;
  if (i < last) {
    run_key = stream[i].key;
    last_key = stream[last - 1u].key;
    if (i > 0u && stream[i - 1u].key == run_key) {
      flags = OPEN;
    }
  } else if (i > 0u) {
    run_key = stream[i - 1u].key;
    last_key = run_key;
  }
  carries[2u * t] = Entry(run_key, ABSENT);
  carries[2u * t + 1u] = Entry(last_key, ABSENT);
  partials[2u * t] = extended_infinity();
  partials[2u * t + 1u] = extended_infinity();
  var x: Tight;
  var y: Tight;
  var zz: Tight;
  var zzz: Tight;
  loop {
    // Goes on to the next addition: ends runs, and takes in the entries that need no product. On a
    // GPU the threads of a subgroup meet again at their additions.
    var entry = stream[min(i, level.entries - 1u)];
    var point = 0u;
    loop {
      let same_run = entry.key == run_key;
      if (i >= last || !same_run) {
        var sum = extended_infinity();
        if ((flags & FINITE) != 0u) {
          sum = Extended(
            field_pack(field_canonical(x)),
            field_pack(field_canonical(y)),
            field_pack(field_canonical(zz)),
            field_pack(field_canonical(zzz)),
          );
        }
        flush(t, run_key, flags, sum, i < level.entries && same_run);
        flags = 0u;
        run_key = entry.key;
      }
      if (i >= last) {
        break;
      }
      if (entry.point_ref != ABSENT) {
        point = (entry.point_ref & INDEX_MASK) * width;
        let finite = is_finite(point);
        if (finite && (flags & FINITE) != 0u) {
          break;
        }
        flags |= PRESENT;
        take(entry, finite);
        if (finite) {
          let negate = (entry.point_ref & NEGATE) != 0u;
          flags |= FINITE;
          x = coordinate(point, 0u, negate);
          y = coordinate(point, 1u, negate);
          zz = field_one();
          zzz = zz;
          if (is_extended) {
            zz = coordinate(point, 2u, negate);
            zzz = coordinate(point, 3u, negate);
          }
        }
      }
      i += 1u;
      entry = stream[min(i, level.entries - 1u)];
    }
    if (i >= last) {
      break;
    }
    take(entry, true);
    i += 1u;
    let negate = (entry.point_ref & NEGATE) != 0u;
    // p and r, later p³ and x'; `square` is p²
    var p = x;
    var r = y;
    var square = x;
    var step = select(DIFFERENCE_X, LIFT_X, is_extended);
    let final_step = select(NEXT_Y, SCALE_ZZZ, is_extended);
    var doubles = false;
    // One product in a loop: the instruction cache of a GPU has no room for more, and compilers
    // inline every call.
    loop {
      var left: Tight;
      var right: Tight;
      if (step == DIFFERENCE_X) {
        left = zz;
        right = coordinate(point, 0u, negate);
      } else if (step == DIFFERENCE_Y) {
        left = zzz;
        right = coordinate(point, 1u, negate);
      } else if (step == SQUARE) {
        left = p;
        right = p;
      } else if (step == CUBE) {
        left = square;
        right = p;
      } else if (step == X_BY_SQUARE) {
        left = x;
        right = square;
      } else if (step == ZZ_BY_SQUARE) {
        left = zz;
        right = square;
      } else if (step == ZZZ_BY_CUBE) {
        left = zzz;
        right = p;
      } else if (step == Y_BY_CUBE) {
        left = y;
        right = p;
      } else if (step == NEXT_X) {
        left = r;
        right = r;
      } else if (step == NEXT_Y) {
        left = field_tighten(field_minus(x, p));
        right = r;
      } else if (step == LIFT_X) {
        left = x;
        right = coordinate(point, 2u, negate);
      } else if (step == LIFT_Y) {
        left = y;
        right = coordinate(point, 3u, negate);
      } else if (step == SCALE_ZZ) {
        left = zz;
        right = coordinate(point, 2u, negate);
      } else {
        left = zzz;
        right = coordinate(point, 3u, negate);
      }
      let product = field_mul(field_loose(left), right);
      if (step == DIFFERENCE_X) {
        p = field_tighten(field_minus(product, x));
      } else if (step == DIFFERENCE_Y) {
        r = field_tighten(field_minus(product, y));
        if (is_zero(p)) {
          // the same point, its negative, or a point of order 2
          doubles = is_zero(r) && !packed_is_zero(points[point + 1u]);
          flags &= ~FINITE;
          break;
        }
      } else if (step == SQUARE) {
        square = product;
      } else if (step == CUBE) {
        p = product;
      } else if (step == X_BY_SQUARE || step == LIFT_X) {
        x = product;
      } else if (step == ZZ_BY_SQUARE || step == SCALE_ZZ) {
        zz = product;
      } else if (step == ZZZ_BY_CUBE || step == SCALE_ZZZ) {
        zzz = product;
      } else if (step == Y_BY_CUBE || step == LIFT_Y) {
        y = product;
      } else if (step == NEXT_X) {
        p = field_minus_twice(field_tighten(field_minus(product, p)), x);
      } else {
        y = field_tighten(field_minus(product, y));
        x = p;
      }
      if (step == final_step) {
        break;
      }
      step += 1u;
    }
    // Doubles the point, in products of its own, because this is rare and the loop above is not.
    if (doubles) {
      flags |= FINITE;
      x = coordinate(point, 0u, negate);
      y = coordinate(point, 1u, negate);
      zz = field_one();
      zzz = zz;
      if (is_extended) {
        zz = coordinate(point, 2u, negate);
        zzz = coordinate(point, 3u, negate);
      }
      // with u = 2·y: u² in `square`, u³ in `p`, m = 3·x² + a·zz² in `r`
      square = field_tighten(field_plus(y, y));
      p = square;
      r = Tight({{zeroLimbs}});
      for (var turn = {{#hasA}}0u{{/hasA}}{{^hasA}}2u{{/hasA}}; turn < 11u + (config.level >> 31u); turn++) {
        var left = square;
        var right = p;
        if (turn == 0u) {
          left = zz;
          right = zz;
        } else if (turn == 1u) {
          left = r;
          right = Tight({{aLimbs}});
        } else if (turn == 4u) {
          left = y;
        } else if (turn == 5u) {
          left = zzz;
        } else if (turn == 6u) {
          left = x;
          right = x;
        } else if (turn == 7u) {
          right = x;
        } else if (turn == 8u) {
          right = zz;
        } else if (turn == 9u) {
          left = r;
          right = r;
        } else if (turn == 10u) {
          left = field_tighten(field_minus(x, p));
          right = r;
        }
        let product = field_mul(field_loose(left), right);
        if (turn < 2u) {
          r = product;
        } else if (turn == 2u) {
          square = product;
        } else if (turn == 3u) {
          p = product;
        } else if (turn == 4u) {
          y = product;
        } else if (turn == 5u) {
          zzz = product;
        } else if (turn == 6u) {
          r = field_triple_plus(product, r);
        } else if (turn == 7u) {
          x = product;
        } else if (turn == 8u) {
          zz = product;
        } else if (turn == 9u) {
          p = field_minus_twice(product, x);
        } else {
          y = field_tighten(field_minus(product, y));
          x = p;
        }
      }
    }
  }
  atomicAdd(&chain[config.checksum], checksum);
  if (finite_points != 0u) {
    atomicAdd(&chain[config.finite_points], finite_points);
  }
{{#instrumented}}
  note_taken();
{{/instrumented}}
}
