// Inversion in F_p by batches of {{batchBits}} Bernstein-Yang divsteps. The bounds and the choice of {{batchBits}} are
// explained in src/field/divsteps.ts; the CPU twin in src/twins/field.ts checks them while it runs.
// Constant number of steps: {{batches}} batches for every input. The inverse of 0 is 0.

// A signed number of {{batchBits}}-bit limbs; all but the top one are in [0, 2^{{batchBits}}).
struct Wide {
{{#wideLimbs}}
  l{{i}}: i32,
{{/wideLimbs}}
}

// One row (u, v) of the matrix of a batch, packed as u + v·2^16: adding, subtracting and doubling rows is adding, subtracting and
// doubling the packed words. Entries lie in (-2^{{batchBits}}, 2^{{batchBits}}], hence the detour over the negative.
fn row_left(row: i32) -> i32 {
  return -(((-row) << 16u) >> 16u);
}

fn row_right(row: i32) -> i32 {
  return -((row_left(row) - row) >> 16u);
}

// (u·a + v·b) / 2^{{batchBits}}, exactly.
fn wide_combine(row: i32, a: Wide, b: Wide) -> Wide {
  let u = row_left(row);
  let v = row_right(row);
{{#wideLimbs}}
  let t{{i}} = u * a.l{{i}} + v * b.l{{i}}{{^first}} + (t{{previous}} >> {{batchBits}}u){{/first}};
{{/wideLimbs}}
  return Wide(
{{#wideLimbs}}
{{^first}}
    t{{i}} & {{batchMask}},
{{/first}}
{{/wideLimbs}}
    t{{wideTop}} >> {{batchBits}}u
  );
}

// The 16 top bits of a number in [-p, p], with its sign.
fn wide_top(a: Wide) -> i32 {
  return {{wideTopBits}};
}

// (u·a + v·b) / 2^{{batchBits}} modulo p, in [-p, p].
fn wide_combine_modular(row: i32, a: Wide, b: Wide) -> Wide {
  let u = row_left(row);
  let v = row_right(row);
  let low = u * a.l0 + v * b.l0;
  let positive = u * wide_top(a) + v * wide_top(b) >= 0;
  let multiple = (low * {{pInverse}}) & {{batchMask}};
  let m = select((-multiple) & {{batchMask}}, -multiple, positive);
{{#wideLimbs}}
  let t{{i}} = u * a.l{{i}} + v * b.l{{i}} + m * {{p}}{{^first}} + (t{{previous}} >> {{batchBits}}u){{/first}};
{{/wideLimbs}}
  return Wide(
{{#wideLimbs}}
{{^first}}
    t{{i}} & {{batchMask}},
{{/first}}
{{/wideLimbs}}
    t{{wideTop}} >> {{batchBits}}u
  );
}

fn field_inverse(a: Field) -> Field {
  var f = Wide({{wideModulus}});
  var g = Wide(
    {{toWide}}
  );
  var d = Wide({{wideZero}});
  var e = Wide({{wideStart}});
  var zeta = -1; // -(delta + 1/2)
  for (var batch = 0u; batch < {{batches}}u; batch++) {
    var f0 = f.l0;
    var g0 = g.l0;
    var top = 1;         // the row (1, 0)
    var bottom = 65536;  // the row (0, 1)
    for (var i = 0u; i < {{batchBits}}u; i++) {
      // g odd and delta > 0: (f, g) becomes (g, g - f), else g becomes g + (g odd ? f : 0); then g is halved
      let odd = -(g0 & 1);
      let swap = (zeta >> 31u) & odd;
      g0 += ((f0 ^ swap) - swap) & odd;
      bottom += ((top ^ swap) - swap) & odd;
      f0 += g0 & swap;
      top += bottom & swap;
      zeta = (zeta ^ swap) - 1;
      g0 = g0 >> 1u;
      top = top << 1u;
    }
    let next_f = wide_combine(top, f, g);
    g = wide_combine(bottom, f, g);
    f = next_f;
    let next_d = wide_combine_modular(top, d, e);
    e = wide_combine_modular(bottom, d, e);
    d = next_d;
  }
  // f is 1 or -1 (p where a = 0) and f·a⁻¹ = d. Apply the sign of f, then bring [-p, p] into [0, p).
  let flip = f.l{{wideTop}} >> 31u;
  let negative = (d.l{{wideTop}} >> 31u) ^ flip;
{{#wideLimbs}}
  let t{{i}} = (d.l{{i}} ^ flip) - flip + ({{p}} & negative){{^first}} + (t{{previous}} >> {{batchBits}}u){{/first}};
{{/wideLimbs}}
{{#wideLimbs}}
  let s{{i}} = t{{i}} & {{batchMask}};
{{/wideLimbs}}
  return Field(
    {{fromWide}}
  );
}
