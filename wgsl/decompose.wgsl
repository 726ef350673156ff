// decompose: scalars to signed digits. One thread a scalar.
//
// A scalar is reduced modulo the group order and cut into windows of c bits. The digit of window j is
//   d_j = bits(jc .. jc+c-1) + bit(jc-1) - 2^c · bit(jc+c-1),
// in [-2^(c-1), 2^(c-1)]: what a window lends to the next one is its own top bit, so no carry runs through the windows and
// every digit stands alone. Sum of d_j · 2^(jc) is the scalar as long as the top window's top bit is 0.
//
// Only the windows of one group are written. Digit d of scalar i in the group's window w becomes the entry w·n + i with key |d| - 1
// and the handle of base i, negated where d < 0; a zero digit becomes an absent entry, which the sort drops.
// Host: src/stages/decompose.ts. CPU twin: src/twins/decompose.ts.
{{structs}}
{{entry}}
{{bindings}}

const SCALAR_WORDS = {{scalarWords}}u;

@compute @workgroup_size({{threads}})
fn decompose(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.x + id.y * groups.x * {{threads}}u;
  if (i >= config.scalars) {
    return;
  }
  // One word of zeros on top, so that a window may reach beyond the scalar.
  var s: array<u32, SCALAR_WORDS + 1u>;
  for (var w = 0u; w < SCALAR_WORDS; w++) {
    s[w] = scalars[i * SCALAR_WORDS + w];
  }
  s[SCALAR_WORDS] = 0u;

  // 2^{{scalarStorageBits}} is less than {{reductionLimit}} times the order: subtract 2^k times the order where it fits, for k downwards.
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

  let c = config.window_bits;
  let half = 1u << (c - 1u);
  var lent = 0u;
  if (config.first_window > 0u) {
    let below = config.first_window * c - 1u;
    lent = (s[below >> 5u] >> (below & 31u)) & 1u;
  }
  for (var w = 0u; w < config.windows; w++) {
    let bit = (config.first_window + w) * c;
    let word = bit >> 5u;
    let shift = bit & 31u;
    var bits = 0u;
    if (word < SCALAR_WORDS) {
      bits = s[word] >> shift;
      if (shift + c > 32u) {
        bits |= s[word + 1u] << (32u - shift);
      }
    }
    bits &= (1u << c) - 1u;
    let negative = bits >= half;
    var magnitude = bits + lent;
    if (negative) {
      magnitude = (half << 1u) - magnitude;
    }
    lent = select(0u, 1u, negative);
    let sign = select(0u, NEGATE, negative);
    let handle = select((config.first_base + i) | sign, ABSENT, magnitude == 0u);
    // magnitude 0 makes the key wrap around; nobody reads the key of an absent digit
    entries[w * config.scalars + i] = Entry(magnitude - 1u, handle);
  }
}
