// partition (planner): decides how every walk over a group of windows is cut. One thread; a few dozen integers.
//
// The sorted stream has E entries, known only now. It is cut on the entries axis into N equal tasks: task t owns the entries from
// t·q + min(t, r) to (t+1)·q + min(t+1, r), with q = E / N and r = E mod N. Whatever a bucket's shape, its entries belong to
// tasks in one way only. A walk of N tasks leaves 2N partial sums, which are the entries of the next level, and so on by a factor
// of SHRINK until one task has seen everything. The walks of the reduction have shapes that the host knows. E goes to an
// account, from which the host learns how fast the device walks. What the walks are told is sealed: whatever
// becomes of it, they walk what was cut here, or not at all.
// Host: src/msm/stages/partition.ts. CPU twin: tests/reference/partition.ts.
{{structs}}
{{> hash_chain}}
{{level}}
{{bindings}}

fn whole(level: Level) -> Level {
  var checked_level = level;
  checked_level.digest = level_digest(level);
  return checked_level;
}

fn level_of(entries: u32, tasks: u32) -> Level {
  if (tasks == 0u) {
    // one workgroup, which finds nothing to do and passes on
    return whole(Level(0u, 0u, 0u, 0u, 0u, 1u, 1u, 1u, 0u));
  }
  // enough slots a thread to share its inversion, unless that would leave the device without threads to run
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
