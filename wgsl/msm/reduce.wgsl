// reduce: from bucket sums to the weighted sums of the windows, W_j = sum over k of k·B_(j,k), as two more walks. This shader
// only lays out their streams; one thread an entry. All adding is done by walk.wgsl.
//
// Write k - 1 = v·2^q + u with u < 2^q and v < 2^h (h + q = c - 1, h = q or q + 1). Then
//   W_j = 2^q · sum of v·H_v + sum of u·L_u + sum of H_v,   H_v = sum over u of B,   L_u = sum over v of B.
// First walk ("split"): the 2^h sums H_v, and the L_u in 2^h parts of as many buckets (two of each where h > q). Each bucket is
// added twice, nothing is serial.
// Second walk ("bits"): sum of v·H_v = sum over bits i of 2^i · (sum of the H_v with bit i set), and so for the L_u. With the sum
// of those H_v whose top bit is not set these are h + q + 1 = c sums a window, which the fold on the CPU weighs with powers of two
// while it doubles anyway.
// Twice as many additions as buckets are the fewest there are: docs/performance.md.
// Every run of a walk has the same length and is one task: no run is ever cut.
// The digests of all entries go to an account, as decompose's do.
// Host: src/msm/stages/reduce.ts. CPU twin: tests/reference/reduce.ts.
{{structs}}
{{entry}}
{{bindings}}
{{> hash_chain}}

// The i-th number that has bit `bit` set.
fn with_bit(i: u32, bit: u32) -> u32 {
  let low = i & ((1u << bit) - 1u);
  return ((i ^ low) << 1u) | (1u << bit) | low;
}

fn split_entry(i: u32) -> Entry {
  let high = 1u << config.high_bits;
  let low = 1u << config.low_bits;
  let key = i >> config.low_bits;         // runs of 2^q entries
  let member = i & (low - 1u);
  let first = (key / (2u * high)) * high * low;
  let sum = key % (2u * high);
  if (sum < high) {
    // H_v: the 2^q buckets v·2^q + u
    return Entry(key, first + (sum << config.low_bits) + member);
  }
  // a part of L_u: 2^q of the buckets v·2^q + u
  let u = sum & (low - 1u);
  let part = (sum - high) >> config.low_bits;
  return Entry(key, first + (((part << config.low_bits) + member) << config.low_bits) + u);
}

fn bits_entry(i: u32) -> Entry {
  let high = 1u << config.high_bits;
  let key = i >> (config.high_bits - 1u);  // runs of 2^(h - 1) entries
  let member = i & ((high >> 1u) - 1u);
  let count = config.high_bits + config.low_bits + 1u;
  let first = (key / count) * 2u * high;
  let sum = key % count;
  if (sum < config.high_bits) {
    return Entry(key, first + with_bit(member, sum));
  }
  if (sum < count - 1u) {
    // both parts of an L_u have the same bits of u
    return Entry(key, first + high + with_bit(member, sum - config.high_bits));
  }
  return Entry(key, first + member);
}

@compute @workgroup_size({{threads}})
fn reduce(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.x + id.y * groups.x * {{threads}}u;
  if (!continue_chain(i == 0u) || i >= max(config.split_entries, config.bits_entries)) {
    return;
  }
  var written = 0u;
  if (i < config.split_entries) {
    let entry = split_entry(i);
    split[i] = entry;
    written = digest_of(entry.key, entry.point_ref);
  }
  if (i < config.bits_entries) {
    let entry = bits_entry(i);
    bits[i] = entry;
    written += digest_of(entry.key, entry.point_ref);
  }
  add_to_account(config.entries_account, i, written);
}
