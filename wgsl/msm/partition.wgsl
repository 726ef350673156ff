// partition: decides how every walk over a group of windows is cut. One thread; a few dozen
// integers.
//
// The number E of entries in the sorted stream is known only on the GPU. The stream is cut into N
// tasks of equal length, whatever the buckets are: task t owns the entries from t·q + min(t, r) to
// (t+1)·q + min(t+1, r), with q = ⌊E / N⌋ and r = E mod N. The walk is a segmented reduction, so a
// run that a cut divides is completed by the next walk: a walk of N tasks leaves 2N carries, which
// are the entries of the next level. The number of tasks falls by the factor 2^combine_bits a
// level, down to one task. The host gives the shapes of the two walks of the reduction that read
// their own streams; those that fold their sums follow by the same factor. E goes to an account,
// from which the host derives the speed of the device. Every level has a digest, so that a walk
// executes the level that was written here or nothing.
// Host: src/msm/stages/partition.ts. CPU reference: tests/reference/partition.ts.
{{structs}}
{{> hash_chain}}
{{level}}
{{bindings}}

// Returns the level with its digest.
fn whole(level: Level) -> Level {
  var checked_level = level;
  checked_level.digest = level_digest(level);
  return checked_level;
}

fn level_of(entries: u32, tasks: u32) -> Level {
  if (tasks == 0u) {
    // its walk has nothing to do but continues the dispatch chain
    return whole(Level(0u, 0u, 0u, 0u, 0u, 0u));
  }
  // fills the slots of each thread, which share an inversion, unless too few threads would run
  let slots_full = (tasks + config.slots - 1u) / config.slots;
  let threads = min(tasks, max(slots_full, config.least_threads));
  return whole(Level(entries, tasks, entries / tasks, entries % tasks, threads, 0u));
}

// Writes the levels of a walk of the reduction and of the walks that fold its sums. Returns the
// index of the level behind them.
fn write_folds(first: u32, entries: u32, tasks: u32, folds: u32) -> u32 {
  levels[first] = level_of(entries, tasks);
  var sums = tasks;
  for (var i = 1u; i <= folds; i++) {
    levels[first + i] = level_of(sums, sums >> config.combine_bits);
    sums >>= config.combine_bits;
  }
  return first + folds + 1u;
}

@compute @workgroup_size(1)
fn partition_stream() {
  if (!continue_chain(true)) {
    return;
  }
  var entries = 0u;
  for (var j = 0u; j < config.windows; j++) {
    entries += min(totals[j], config.row_length);
  }
  atomicAdd(&chain[config.entries_account], entries);
  var tasks = clamp((entries + config.entries_per_task - 1u) / config.entries_per_task, 1u, config.most_tasks);
  for (var i = 0u; i < config.levels; i++) {
    levels[i] = level_of(entries, tasks);
    entries = 2u * tasks;
    tasks = select((tasks + (1u << config.combine_bits) - 1u) >> config.combine_bits, 0u, tasks <= 1u);
  }
  let bits = write_folds(config.levels, config.split_entries, config.split_tasks, config.split_folds);
  write_folds(bits, config.bits_entries, config.bits_tasks, config.bits_folds);
}
