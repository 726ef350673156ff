// partition: decides how every walk over a group of windows is cut. One thread; a few dozen
// integers.
//
// The number E of entries in the sorted stream is known only on the GPU. The stream is cut into N
// tasks of equal length, whatever the buckets are: task t owns the entries from t·q + min(t, r) to
// (t+1)·q + min(t+1, r), with q = ⌊E / N⌋ and r = E mod N. The walk is a segmented reduction, so a
// run that a cut divides is completed by the next walk: a walk of N tasks leaves 2N carries, which
// are the entries of the next level. The number of tasks falls by a factor of SHRINK a level, down
// to one task. The shapes of the walks of the reduction come from the host. E goes to an account,
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
    // one workgroup, which has nothing to do but continues the dispatch chain
    return whole(Level(0u, 0u, 0u, 0u, 0u, 1u, 1u, 1u, 0u));
  }
  // fills the slots of each thread, which share an inversion, unless too few threads would run
  let slots_full = (tasks + config.slots - 1u) / config.slots;
  let threads = min(tasks, max(slots_full, config.least_threads));
  let groups = (threads + config.threads_per_group - 1u) / config.threads_per_group;
  let rows = (groups + {{maxGroups}}u - 1u) / {{maxGroups}}u;
  return whole(Level(entries, tasks, entries / tasks, entries % tasks, threads, (groups + rows - 1u) / rows, rows, 1u, 0u));
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
    tasks = select((tasks + {{shrink}}u - 1u) / {{shrink}}u, 0u, tasks <= 1u);
  }
  levels[config.levels] = level_of(config.split_entries, config.split_tasks);
  levels[config.levels + 1u] = level_of(config.bits_entries, config.bits_tasks);
}
