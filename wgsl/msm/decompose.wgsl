// decompose: recodes scalars to signed digits (signed-digit recoding; Booth 1951). One thread per
// scalar.
//
// A scalar is reduced modulo the group order r. Where r is the order of the whole curve, s·P = (r -
// s)·(-P), and the shorter of the two scalars is used. It is cut into blocks, one for each table of
// the bases (Lim and Lee 1994), and a block into windows of c bits, the last of which may be
// narrower. The digit of the w bits from bit b on is
//   d = bits(b .. b+w-1) + bit(b-1) - 2^w · bit(b+w-1),
// in [-2^(w-1), 2^(w-1)]. A window lends its own top bit to the next window, so that no carry runs
// through the windows and each digit is computed alone. Σ d · 2^b is the scalar as long as the top
// bit of the topmost window is 0.
//
// Window j of vector v has window row v·T + j; only the rows of one group are written. A row has
// room for every block of as many scalars as the longest vector has. Digit d of block t of scalar i
// becomes entry i·blocks + t, with key |d| - 1 and a point reference to table t of its base,
// negated where d < 0. A zero digit, or a scalar that a shorter vector lacks, becomes an absent
// entry, which the sort drops.
//
// The digest of every scalar as it was read, with its index and its base, goes to one account,
// which the host compares with its own digest. The digest of every present entry, with the key that
// the sort will give it, goes to another account, which is compared with what the walks take in.
// Host: src/msm/stages/decompose.ts. CPU reference: tests/reference/decompose.ts.
{{structs}}
{{entry}}
{{bindings}}
{{> hash_chain}}

const SCALAR_WORDS = {{scalarWords}}u;
const IN_A_ROW = {{inARow}}u;

@compute @workgroup_size({{threads}})
fn decompose(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let thread = id.x + id.y * groups.x * {{threads}}u;
  if (!continue_chain(thread == 0u)) {
    return;
  }
  let first_vector = config.first_window / config.vector_windows;
  let v = first_vector + thread / config.scalars;
  let i = thread % config.scalars;
  // window rows of this vector that are in the group
  let first = max(config.first_window, v * config.vector_windows);
  let end = min(config.first_window + config.windows, (v + 1u) * config.vector_windows);
  if (first >= end) {
    return;
  }
  let vector = vectors[v];
  let window_row = config.scalars * config.blocks;
  if (i >= vector.length) {
    for (var j = first; j < end; j++) {
      for (var t = 0u; t < config.blocks; t++) {
        entries[(j - config.first_window) * window_row + i * config.blocks + t] = Entry(0u, ABSENT);
      }
    }
    return;
  }
  // one word of zeros on top, because a window may reach beyond the scalar
  var s: array<u32, SCALAR_WORDS + 1u>;
  for (var w = 0u; w < SCALAR_WORDS; w++) {
    s[w] = scalars[(v * config.scalars + i) * SCALAR_WORDS + w];
  }
  s[SCALAR_WORDS] = 0u;
  var base = vector.first_base + i;
  if (vector.first_pick != IN_A_ROW) {
    base = vector.first_base + picks[vector.first_pick + i];
  }
  var digest = v * weight(SCALAR_WORDS) + i * weight(SCALAR_WORDS + 1u) + base * weight(SCALAR_WORDS + 2u);
  for (var w = 0u; w < SCALAR_WORDS; w++) {
    digest += s[w] * weight(w);
  }
  add_to_account(config.scalars_account, thread, mix(digest));

  // 2^{{scalarStorageBits}} is less than {{reductionLimit}} times the order: subtract 2^k times the
  // order if it fits, from the largest k down
{{#reductions}}
  {
    // order · 2^{{k}}
    var difference: array<u32, SCALAR_WORDS>;
    var borrow = 0u;
{{#words}}
    {
      let a = s[{{w}}];
      let b = {{value}}u;
      let d = a - b;
      difference[{{w}}] = d - borrow;
      borrow = select(0u, 1u, a < b || d < borrow);
    }
{{/words}}
    if (borrow == 0u) {
      for (var w = 0u; w < SCALAR_WORDS; w++) {
        s[w] = difference[w];
      }
    }
  }
{{/reductions}}

  var flip = 0u;
{{#negates}}
  {
    // order - s, and whether that is less than s
    var rest: array<u32, SCALAR_WORDS>;
    var borrow = 0u;
    var less = false;
{{#orderWords}}
    {
      let a = {{value}}u;
      let b = s[{{w}}];
      let d = a - b;
      let own = d - borrow;
      borrow = select(0u, 1u, a < b || d < borrow);
      rest[{{w}}] = own;
      less = own < b || (own == b && less);
    }
{{/orderWords}}
    if (less) {
      flip = NEGATE;
      for (var w = 0u; w < SCALAR_WORDS; w++) {
        s[w] = rest[w];
      }
    }
  }
{{/negates}}

  var written = 0u;
  for (var j = first; j < end; j++) {
    let below = (j - v * config.vector_windows) * config.window_bits; // bits of the block below the window
    let width = min(config.window_bits, config.block_bits - below);
    for (var t = 0u; t < config.blocks; t++) {
      let bit = t * config.block_bits + below;
      let word = bit >> 5u;
      let shift = bit & 31u;
      var bits = 0u;
      if (word < SCALAR_WORDS) {
        bits = s[word] >> shift;
        if (shift + width > 32u) {
          bits |= s[word + 1u] << (32u - shift);
        }
      }
      bits &= (1u << width) - 1u;
      var lent = 0u;
      if (bit > 0u && bit <= 32u * SCALAR_WORDS) {
        lent = (s[(bit - 1u) >> 5u] >> ((bit - 1u) & 31u)) & 1u;
      }
      let negative = (bits >> (width - 1u)) == 1u;
      var magnitude = bits + lent;
      if (negative) {
        magnitude = (1u << width) - magnitude;
      }
      let sign = select(0u, NEGATE, negative) ^ flip;
      let point_ref = (base * config.tables + t) | sign;
      // magnitude 0 makes the key wrap around, but no stage reads the key of an absent digit
      entries[(j - config.first_window) * window_row + i * config.blocks + t] =
        Entry(magnitude - 1u, select(point_ref, ABSENT, magnitude == 0u));
      written += select(digest_of((j << (config.window_bits - 1u)) + magnitude - 1u, point_ref), 0u, magnitude == 0u);
    }
  }
  add_to_account(config.entries_account, thread, written);
}
