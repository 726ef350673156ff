// sort: sorts the entries of every window of a group by key. Least-significant-digit radix sort,
// stable and without atomics: the same input gives the same permutation on every run, and the time
// does not depend on how the points fall into buckets.
//
// The stream consists of window rows of n entries. A pass sorts each row by {{radixBits}} or fewer
// bits of the key, in three dispatches (Merrill and Grimshaw 2011, "High performance and scalable
// radix sorting", in its simplest form):
//   sort_count    counts the digits of each tile of a row; a tile is the share of one workgroup,
//   sort_scan     turns the counts of a window into positions, one workgroup per window,
//   sort_scatter  moves the entries of each tile to their positions.
// A thread takes {{perThread}} consecutive entries and counts them in a column of its own, so that
// no counter is shared. The first pass drops absent entries (zero digits). The last pass closes the
// gaps between the rows and makes the keys global.
// Host: src/msm/stages/sort.ts. CPU reference: tests/reference/sort.ts.
{{structs}}
{{entry}}
{{bindings}}
{{> hash_chain}}

const THREADS = {{threads}}u;
const PER_THREAD = {{perThread}}u;
const BINS = {{bins}}u;
const TILE = THREADS * PER_THREAD;
{{#hasColumns}}

// Two 16-bit counters per word: bins 2k and 2k+1 of one thread, the only one that writes the word.
var<workgroup> columns: array<u32, {{columnWords}}>;

fn column(bin: u32, thread: u32) -> u32 {
  return (bin >> 1u) * THREADS + thread;
}

fn increment(bin: u32, thread: u32) -> u32 {
  let at = column(bin, thread);
  let shift = (bin & 1u) << 4u;
  let old = columns[at];
  columns[at] = old + (1u << shift);
  return (old >> shift) & 0xffffu;
}

fn digit(key: u32) -> u32 {
  return (key >> config.shift) & config.mask;
}

// Returns the number of entries of a row that this pass reads: n in the first pass, the present
// ones in later passes.
fn row_length(window: u32) -> u32 {
  if (config.first_pass == 1u) {
    return config.row_length;
  }
  return min(totals[window], config.row_length);
}

fn count_own(window: u32, tile: u32, thread: u32, length: u32) {
  for (var bin = 0u; bin < BINS; bin += 2u) {
    columns[column(bin, thread)] = 0u;
  }
  let start = tile * TILE + thread * PER_THREAD;
  for (var i = start; i < min(start + PER_THREAD, length); i++) {
    let entry = entries[window * config.row_length + i];
    if (entry.point_ref != ABSENT) {
      increment(digit(entry.key), thread);
    }
  }
}
{{/hasColumns}}
{{#count}}

@compute @workgroup_size({{threads}})
fn sort_count(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let tile = group.x;
  let window = group.y;
  let length = select(0u, row_length(window), continue_chain(thread == 0u && all(group.xy == vec2(0u))));
  count_own(window, tile, thread, length);
  workgroupBarrier();
  for (var bin = thread; bin < BINS; bin += THREADS) {
    var sum = 0u;
    for (var t = 0u; t < THREADS; t++) {
      sum += (columns[column(bin, t)] >> ((bin & 1u) << 4u)) & 0xffffu;
    }
    counts[(window * BINS + bin) * config.tiles + tile] = sum;
  }
}
{{/count}}
{{#scan}}

var<workgroup> sums: array<u32, THREADS>;

// Exclusive scan of the BINS × tiles counts of one window, in place; their sum goes to `totals`.
@compute @workgroup_size({{threads}})
fn sort_scan(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let window = group.x;
  let length = select(0u, BINS * config.tiles, continue_chain(thread == 0u && window == 0u));
  let first = window * BINS * config.tiles;
  let share = (length + THREADS - 1u) / THREADS;
  let start = min(thread * share, length);
  let end = min(start + share, length);
  var sum = 0u;
  for (var i = start; i < end; i++) {
    sum += counts[first + i];
  }
  sums[thread] = sum;
  workgroupBarrier();
  // Hillis and Steele: after step k a thread holds the sum of up to 2^k threads ending at itself
  for (var distance = 1u; distance < THREADS; distance <<= 1u) {
    var left = 0u;
    if (thread >= distance) {
      left = sums[thread - distance];
    }
    workgroupBarrier();
    sums[thread] += left;
    workgroupBarrier();
  }
  var position = sums[thread] - sum;
  for (var i = start; i < end; i++) {
    let count = counts[first + i];
    counts[first + i] = position;
    position += count;
  }
  if (thread == THREADS - 1u) {
    totals[window] = sums[thread];
  }
}
{{/scan}}
{{#scatter}}

// Position of the first entry of each bin of this tile.
var<workgroup> bases: array<u32, BINS>;
// Entries of the windows before this one, summed by each thread over its share, because a batch has
// many windows.
var<workgroup> in_front: array<u32, THREADS>;

@compute @workgroup_size({{threads}})
fn sort_scatter(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let tile = group.x;
  let window = group.y;
  let length = select(0u, row_length(window), continue_chain(thread == 0u && all(group.xy == vec2(0u))));
  count_own(window, tile, thread, length);
  var share = 0u;
  for (var j = thread; j < window; j += THREADS) {
    share += min(totals[j], config.row_length);
  }
  in_front[thread] = share;
  workgroupBarrier();
  // the last pass writes the windows contiguously, earlier passes write to their rows
  var target_base = window * config.row_length;
  if (config.last_pass == 1u) {
    target_base = 0u;
    for (var t = 0u; t < THREADS; t++) {
      target_base += in_front[t];
    }
  }
  // the counters of every bin become their exclusive scan over the threads
  for (var bin = thread; bin < BINS; bin += THREADS) {
    bases[bin] = target_base + counts[(window * BINS + bin) * config.tiles + tile];
  }
  for (var pair = thread; pair < (BINS + 1u) / 2u; pair += THREADS) {
    // both counters of a word at once: no sum exceeds the tile, so the lower half does not overflow
    var running = 0u;
    for (var t = 0u; t < THREADS; t++) {
      let at = pair * THREADS + t;
      let count = columns[at];
      columns[at] = running;
      running += count;
    }
  }
  workgroupBarrier();
  let start = tile * TILE + thread * PER_THREAD;
  for (var i = start; i < min(start + PER_THREAD, length); i++) {
    let entry = entries[window * config.row_length + i];
    if (entry.point_ref != ABSENT) {
      let bin = digit(entry.key);
      let key = entry.key + select(0u, (config.first_window + window) * config.buckets, config.last_pass == 1u);
      sorted[bases[bin] + increment(bin, thread)] = Entry(key, entry.point_ref);
    }
  }
}
{{/scatter}}
