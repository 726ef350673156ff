// Inversion in F_p by batches of {{batchBits}} divsteps (Bernstein and Yang 2019).
// src/field/divsteps.ts explains the bounds; the CPU reference in tests/reference/field.ts checks
// them at run time. The number of steps is constant: {{batches}} batches for every input. The
// inverse of 0 is 0.

// Signed numbers in limbs of {{batchBits}} bits. f and g are shorter than d and e.
struct {{Prime}}Short {
{{#shortLimbs}}
  l{{i}}: u32,
{{/shortLimbs}}
}

struct {{Prime}}Wide {
{{#wideLimbs}}
  l{{i}}: u32,
{{/wideLimbs}}
}

// A row (u, v) of the matrix of a batch is packed as u + v·2^16, so that rows are added, subtracted
// and doubled as words. Entries lie in (-2^{{batchBits}}, 2^{{batchBits}}].
fn {{prime_}}row_left(row: u32) -> u32 {
  let low = row & 65535u;
  return low - select(0u, 65536u, low > 32768u);
}

fn {{prime_}}row_right(row: u32, left: u32) -> u32 {
  return {{rowCarry}};
}

struct {{Prime}}ShortPair {
  f: {{Prime}}Short,
  g: {{Prime}}Short,
}

struct {{Prime}}WidePair {
  d: {{Prime}}Wide,
  e: {{Prime}}Wide,
}

// Applies the matrix ((u, v), (q, r)) of a batch to f and g.
fn {{prime_}}apply_to_short(u: u32, v: u32, q: u32, r: u32, f: {{Prime}}Short, g: {{Prime}}Short) -> {{Prime}}ShortPair {
{{#applyShort}}
{{#statements}}
  {{statement}}
{{/statements}}
  return {{Prime}}ShortPair({{Prime}}Short({{first}}), {{Prime}}Short({{second}}));
{{/applyShort}}
}

// Applies the matrix of a batch to d and e.
fn {{prime_}}apply_to_wide(u: u32, v: u32, q: u32, r: u32, d: {{Prime}}Wide, e: {{Prime}}Wide) -> {{Prime}}WidePair {
{{#applyWide}}
{{#statements}}
  {{statement}}
{{/statements}}
  return {{Prime}}WidePair({{Prime}}Wide({{first}}), {{Prime}}Wide({{second}}));
{{/applyWide}}
}

// The rows of all batches. f and g need them at once, d and e can wait; one pair after the other
// takes half of the registers. The kernel declares MATRICES, {{batches}} or more.
var<private> matrices: array<vec2<u32>, MATRICES>;

fn {{prime_}}short_from(a: {{Prime}}Canonical) -> {{Prime}}Short {
  return {{Prime}}Short({{toShort}});
}

// Returns sign·d minus a multiple of p, as an element: the estimate k is half a unit low, so the result
// is between 0 and 2p.
fn {{prime_}}wide_finish(d: {{Prime}}Wide, sign: u32) -> {{Prime}}Tight {
  let k = bitcast<u32>(i32(floor(f32(bitcast<i32>(sign)) * (({{wideTop}}) * {{perWideModulus}}) - 0.5)));
{{#finish}}
  {{statement}}
{{/finish}}
  return {{Prime}}Tight({{fromWide}});
}

// 0, which entry points write in a way that compilers cannot see through. Some compilers, FXC among
// them, unroll every loop with a constant number of turns, and the body of this loop is the largest
// of all.
var<private> unseen_zero: u32;

fn {{prime_}}field_inverse(a: {{Prime}}Tight) -> {{Prime}}Tight {
  var f = {{Prime}}Short({{shortModulus}});
  var g = {{prime_}}short_from({{prime_}}field_canonical(a));
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
    let u = {{prime_}}row_left(top);
    let v = {{prime_}}row_right(top, u);
    let q = {{prime_}}row_left(bottom);
    let r = {{prime_}}row_right(bottom, q);
    let next = {{prime_}}apply_to_short(u, v, q, r, f, g);
    f = next.f;
    g = next.g;
    matrices[batch] = vec2<u32>(top, bottom);
  }
  let sign = select(0xffffffffu, 1u, f.l0 == 1u);
  var d = {{Prime}}Wide({{wideZero}});
  var e = {{Prime}}Wide({{wideStart}});
  for (var batch = 0u; batch < batches; batch++) {
    let matrix = matrices[batch];
    let u = {{prime_}}row_left(matrix.x);
    let q = {{prime_}}row_left(matrix.y);
    let next = {{prime_}}apply_to_wide(u, {{prime_}}row_right(matrix.x, u), q, {{prime_}}row_right(matrix.y, q), d, e);
    d = next.d;
    e = next.e;
  }
  // f is 1 or -1, and a⁻¹ is d or -d; where a = 0 f is p or -p, and d is 0
  return {{prime_}}wide_finish(d, sign);
}
