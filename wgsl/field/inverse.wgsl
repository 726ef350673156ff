// Inversion in F_p by batches of {{batchBits}} divsteps (Bernstein and Yang 2019).
// src/field/divsteps.ts explains the bounds; the CPU reference in tests/reference/field.ts checks
// them at run time. The number of steps is constant: {{batches}} batches for every input. The
// inverse of 0 is 0.

// Signed numbers in limbs of {{batchBits}} bits. f and g are shorter than d and e.
struct Short {
{{#shortLimbs}}
  l{{i}}: u32,
{{/shortLimbs}}
}

struct Wide {
{{#wideLimbs}}
  l{{i}}: u32,
{{/wideLimbs}}
}

// A row (u, v) of the matrix of a batch is packed as u + v·2^16, so that rows are added, subtracted
// and doubled as words. Entries lie in (-2^{{batchBits}}, 2^{{batchBits}}].
fn row_left(row: u32) -> u32 {
  let low = row & 65535u;
  return low - select(0u, 65536u, low > 32768u);
}

fn row_right(row: u32, left: u32) -> u32 {
  return {{rowCarry}};
}

struct ShortPair {
  f: Short,
  g: Short,
}

struct WidePair {
  d: Wide,
  e: Wide,
}

// Applies the matrix ((u, v), (q, r)) of a batch to f and g.
fn apply_to_short(u: u32, v: u32, q: u32, r: u32, f: Short, g: Short) -> ShortPair {
{{#applyShort}}
{{#statements}}
  {{statement}}
{{/statements}}
  return ShortPair(Short({{first}}), Short({{second}}));
{{/applyShort}}
}

// Applies the matrix of a batch to d and e.
fn apply_to_wide(u: u32, v: u32, q: u32, r: u32, d: Wide, e: Wide) -> WidePair {
{{#applyWide}}
{{#statements}}
  {{statement}}
{{/statements}}
  return WidePair(Wide({{first}}), Wide({{second}}));
{{/applyWide}}
}

// The rows of all batches. f and g need them at once, d and e can wait; one pair after the other
// takes half of the registers. The kernel declares MATRICES, {{batches}} or more.
var<private> matrices: array<vec2<u32>, MATRICES>;

fn short_from(a: Canonical) -> Short {
  return Short({{toShort}});
}

// Returns sign·d minus a multiple of p, as an element: the estimate k is half a unit low, so the result
// is between 0 and 2p.
fn wide_finish(d: Wide, sign: u32) -> Tight {
  let k = bitcast<u32>(i32(floor(f32(bitcast<i32>(sign)) * (({{wideTop}}) * {{perWideModulus}}) - 0.5)));
{{#finish}}
  {{statement}}
{{/finish}}
  return Tight({{fromWide}});
}

// 0, which entry points write in a way that compilers cannot see through. Some compilers, FXC among
// them, unroll every loop with a constant number of turns, and the body of this loop is the largest
// of all.
var<private> unseen_zero: u32;

fn field_inverse(a: Tight) -> Tight {
  var f = Short({{shortModulus}});
  var g = short_from(field_canonical(a));
  var zeta = 0xffffffffu; // -(delta + 1/2), to begin with -1
  let batches = {{batches}}u + unseen_zero;
  for (var batch = 0u; batch < batches; batch++) {
    // The low limbs, times 2 to the steps done: f0 doubles where g0 would be halved, and g0 is
    // looked at a bit higher.
    var f0 = f.l0;
    var g0 = g.l0;
    var top = 1u;         // the row (1, 0)
    var bottom = 65536u;  // the row (0, 1)
    var odd: u32;
    var swap: u32;
    var times: u32;
    var bit = 1u;
    for (var group = 0u; group < {{stepGroups}}u; group++) {
{{#steps}}
    // g odd and delta > 0: (f, g) becomes (g, g - f), else g becomes g + (g odd ? f : 0); then g is
    // halved
    odd = select(0u, 1u, (g0 & bit) != 0u);
    swap = select(0u, odd, bitcast<i32>(zeta) < 0);
    times = odd - swap - swap;
    g0 += times * f0;
    bottom += times * top;
    f0 += swap * g0;
    top += swap * bottom;
    f0 += f0;
    top += top;
    zeta = (zeta ^ (0u - swap)) - 1u;
    bit += bit;
{{/steps}}
    }
    let u = row_left(top);
    let v = row_right(top, u);
    let q = row_left(bottom);
    let r = row_right(bottom, q);
    let next = apply_to_short(u, v, q, r, f, g);
    f = next.f;
    g = next.g;
    matrices[batch] = vec2<u32>(top, bottom);
  }
  let sign = select(0xffffffffu, 1u, f.l0 == 1u);
  var d = Wide({{wideZero}});
  var e = Wide({{wideStart}});
  for (var batch = 0u; batch < batches; batch++) {
    let matrix = matrices[batch];
    let u = row_left(matrix.x);
    let q = row_left(matrix.y);
    let next = apply_to_wide(u, row_right(matrix.x, u), q, row_right(matrix.y, q), d, e);
    d = next.d;
    e = next.e;
  }
  // f is 1 or -1, and a⁻¹ is d or -d; where a = 0 f is p or -p, and d is 0
  return wide_finish(d, sign);
}
