// reduce: from bucket sums to the weighted sums of the windows, W_j = Σ k·B_(j,k) over k, as
// more walks. This is the step of the bucket method that is usually a running sum (Bernstein,
// Doumen, Lange, Oosterwijk 2012), in a form without serial chains. The shader only lays out the
// streams of the walks, one thread per entry; walk.wgsl does all additions.
//
// Write k - 1 = v·2^q + u with u < 2^q and v < 2^h (h + q = c - 1, h = q or q + 1). Then
//   W_j = 2^q · Σ v·H_v + Σ u·L_u + Σ H_v,   H_v = Σ B over u,   L_u = Σ B over v.
// First walk ("split"): the 2^h sums H_v, and the L_u in 2^h parts of as many buckets (two parts
// each where h > q). Each bucket is added twice. Second walk ("bits"): Σ v·H_v = Σ 2^i · (Σ of the
// H_v with bit i of v set) over the bits i, and likewise for the L_u. With the sum of those H_v
// whose top bit is not set these are h + q + 1 = c sums a window. The host weights them with powers
// of two while it combines the windows by Horner's rule. No method takes fewer additions than two
// per bucket (docs/reference/performance.md). All runs of a walk have the same length, and each run
// is one task. A GPU with room for many threads waits for the additions of a run, which are one
// after the other; so a long run is cut into several of 2^run_bits entries, and walks over the
// "fold" stream add their sums: its entry i is point i, in runs of 2^fold_bits. All these walks
// read the same stream from its beginning, the later ones less of it. The digests of all entries go
// to an account, as those of decompose do, once for each walk that reads them.
// Host: src/msm/stages/reduce.ts. CPU reference: tests/reference/reduce.ts.
{{structs}}
{{entry}}
{{bindings}}
{{> hash_chain}}

// Returns the i-th number that has bit `bit` set.
fn with_bit(i: u32, bit: u32) -> u32 {
  let low = i & ((1u << bit) - 1u);
  return ((i ^ low) << 1u) | (1u << bit) | low;
}

fn split_entry(i: u32) -> Entry {
  let high = 1u << config.high_bits;
  let low = 1u << config.low_bits;
  let key = i >> config.split_run_bits;
  let all_sums = i >> config.low_bits;     // each of 2^q entries
  let member = i & (low - 1u);
  let first = (all_sums / (2u * high)) * high * low;
  let sum = all_sums % (2u * high);
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
  let key = i >> config.bits_run_bits;
  let all_sums = i >> (config.high_bits - 1u);  // each of 2^(h - 1) entries
  let member = i & ((high >> 1u) - 1u);
  let count = config.high_bits + config.low_bits + 1u;
  let first = (all_sums / count) * 2u * high;
  let sum = all_sums % count;
  if (sum < config.high_bits) {
    return Entry(key, first + with_bit(member, sum));
  }
  if (sum < count - 1u) {
    // both parts of an L_u have the same bits of u
    return Entry(key, first + high + with_bit(member, sum - config.high_bits));
  }
  return Entry(key, first + member);
}

// Returns the number of walks that fold the sums of `entries` in runs of 2^run_bits and that read
// entry i of their stream.
fn readers(i: u32, entries: u32, run_bits: u32, folds: u32) -> u32 {
  var count = 0u;
  for (var fold = 0u; fold < folds; fold++) {
    let read = entries >> (run_bits + fold * config.fold_bits);
    count += select(0u, 1u, i < read);
  }
  return count;
}

@compute @workgroup_size({{threads}})
fn reduce(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.x + id.y * groups.x * {{threads}}u;
  if (!continue_chain(i == 0u) || i >= max(max(config.split_entries, config.bits_entries), config.fold_entries)) {
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
  if (i < config.fold_entries) {
    let entry = Entry(i >> config.fold_bits, i);
    bits[config.fold_first + i] = entry;
    written += digest_of(entry.key, entry.point_ref) * (
      readers(i, config.split_entries, config.split_run_bits, config.split_folds) +
      readers(i, config.bits_entries, config.bits_run_bits, config.bits_folds)
    );
  }
  add_to_account(config.entries_account, i, written);
}
