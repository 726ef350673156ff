// reduce: from bucket sums to the weighted sums of the windows, W_j = sum over k of k·B_(j,k), as two more walks. This shader
// only lays out their streams; one thread an entry. All adding is done by walk.wgsl.
//
// Write k - 1 = v·2^q + u with u < 2^q and v < 2^h (h + q = c - 1, h = q or q + 1). Then
//   W_j = 2^q · sum of v·H_v + sum of u·L_u + sum of L_u,   H_v = sum over u of B,   L_u = sum over v of B.
// First walk ("split"): the 2^h sums H_v and the 2^q sums L_u, by key. Each bucket is added twice, nothing is serial.
// Second walk ("bits"): sum of v·H_v = sum over bits i of 2^i · (sum of the H_v with bit i set): h + q + 1 = c sums a window,
// which the fold on the CPU weighs with powers of two while it doubles anyway.
// Every run has the same length, filled up with absent entries, and is one task: no run is ever cut.
// Host: src/stages/reduce.ts. CPU twin: src/twins/reduce.ts.
{{structs}}
{{entry}}
{{bindings}}

// The i-th number that has bit `bit` set.
fn with_bit(i: u32, bit: u32) -> u32 {
  let low = i & ((1u << bit) - 1u);
  return ((i ^ low) << 1u) | (1u << bit) | low;
}

fn split_entry(i: u32) -> Entry {
  let high = 1u << config.high_bits;
  let low = 1u << config.low_bits;
  let key = i >> config.high_bits;        // runs of 2^h entries
  let member = i & (high - 1u);
  let window = key / (high + low);
  let sum = key % (high + low);
  if (sum < high) {
    // H_v: the 2^q buckets v·2^q + u
    let bucket = (sum << config.low_bits) + member;
    return Entry(key, select(ABSENT, window * high * low + bucket, member < low));
  }
  // L_u: the 2^h buckets v·2^q + u
  return Entry(key, window * high * low + (member << config.low_bits) + (sum - high));
}

fn bits_entry(i: u32) -> Entry {
  let high = 1u << config.high_bits;
  let low = 1u << config.low_bits;
  let key = i / config.bits_run;
  let member = i % config.bits_run;
  let count = config.high_bits + config.low_bits + 1u;
  let first = (key / count) * (high + low);
  let sum = key % count;
  if (sum < config.high_bits) {
    return Entry(key, select(ABSENT, first + with_bit(member, sum), 2u * member < high));
  }
  if (sum < count - 1u) {
    return Entry(key, select(ABSENT, first + high + with_bit(member, sum - config.high_bits), 2u * member < low));
  }
  return Entry(key, select(ABSENT, first + high + member, member < low));
}

@compute @workgroup_size({{threads}})
fn reduce(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.x + id.y * groups.x * {{threads}}u;
  if (i < config.split_entries) {
    split[i] = split_entry(i);
  }
  if (i < config.bits_entries) {
    bits[i] = bits_entry(i);
  }
}
