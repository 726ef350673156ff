// sort: sorts the entries of every window of a group by key. Least-significant-digit radix sort,
// stable: the same input gives the same permutation on every run, and the time does not depend on
// how the points fall into buckets.
//
// The stream consists of window rows of n entries. A pass sorts each row by {{radixBits}} or fewer
// bits of the key, in three dispatches (Merrill and Grimshaw 2011, "High performance and scalable
// radix sorting", in its simplest form):
//   sort_count    counts the digits of each tile of a row; a tile is the share of one workgroup,
//   sort_scan     turns the counts of a window into positions, one workgroup per window,
//   sort_scatter  moves the entries of each tile to their positions.
// sort_count adds to shared counters, because a sum has no order. In sort_scatter a thread takes
// {{perThread}} consecutive entries and counts them in a column of its own, so that an entry learns
// how many entries of its bin are before it. The first pass drops absent entries (zero digits). The
// last pass closes the gaps between the rows and makes the keys global.
//
// Threads of few entries hold them in registers, and the workgroup puts them in order in its own
// memory first: then neighbouring threads write to neighbouring positions. Threads of many entries
// read them twice and write each of them at once.
//
// Variables of a workgroup begin as zeros, as WGSL has it.
// Host: src/msm/stages/sort.ts. CPU reference: tests/reference/sort.ts.
{{structs}}
{{entry}}
{{bindings}}
{{> hash_chain}}

const THREADS = {{threads}}u;
const BINS = {{bins}}u;
{{#hasTiles}}
const PER_THREAD = {{perThread}}u;
const TILE = THREADS * PER_THREAD;

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

// Returns entry i of a row, an absent one beyond its length.
fn entry_of(window: u32, i: u32, length: u32) -> Entry {
  if (i < length) {
    return entries[window * config.row_length + i];
  }
  return Entry(0u, ABSENT);
}
{{/hasTiles}}
{{#count}}

// Counters of every bin, {{copies}} of each: threads that add to one counter wait for each other.
const COPIES = {{copies}}u;
var<workgroup> histogram: array<atomic<u32>, {{counters}}>;

@compute @workgroup_size({{threads}})
fn sort_count(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let tile = group.x;
  let window = group.y;
  let works = continue_chain(thread == 0u && all(group.xy == vec2(0u)));
  let length = row_length(window);
  for (var j = 0u; j < PER_THREAD; j++) {
    let entry = entry_of(window, tile * TILE + j * THREADS + thread, length);
    if (entry.point_ref != ABSENT) {
      atomicAdd(&histogram[digit(entry.key) * COPIES + thread % COPIES], 1u);
    }
  }
  workgroupBarrier();
  for (var bin = thread; bin < BINS; bin += THREADS) {
    var sum = 0u;
    for (var copy = 0u; copy < COPIES; copy++) {
      sum += atomicLoad(&histogram[bin * COPIES + copy]);
    }
    if (works) {
      counts[(window * BINS + bin) * config.tiles + tile] = sum;
    }
  }
}
{{/count}}
{{#scan}}

// Counts that a thread takes at a time, as vectors of four.
const VECTORS = 4u;

// Sums of the threads before and after a step of their scan.
var<workgroup> sums: array<u32, {{sumWords}}>;

// Exclusive scan of the BINS × tiles counts of one window, in place; their sum goes to `totals`.
// The workgroup takes one stretch of counts after the other, and carries their sum on.
@compute @workgroup_size({{threads}})
fn sort_scan(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let window = group.x;
  let works = continue_chain(thread == 0u && window == 0u);
  let length = BINS / 4u * config.tiles;
  let first = window * length;
  var carry = 0u;
  for (var start = 0u; start < length; start += THREADS * VECTORS) {
    let at = start + thread * VECTORS;
    var own: array<vec4<u32>, VECTORS>;
    var sum = 0u;
    for (var v = 0u; v < VECTORS; v++) {
      own[v] = vec4(0u); // else Dawn leaves the counts of the stretch before
      if (at + v < length) {
        own[v] = counts[first + at + v];
      }
      sum += own[v].x + own[v].y + own[v].z + own[v].w;
    }
    sums[thread] = sum;
    workgroupBarrier();
    // Hillis and Steele: after step k a thread holds the sum of up to 2^k threads ending at itself
    var half = 0u;
    for (var distance = 1u; distance < THREADS; distance <<= 1u) {
      var through = sums[half + thread];
      if (thread >= distance) {
        through += sums[half + thread - distance];
      }
      half = THREADS - half;
      sums[half + thread] = through;
      workgroupBarrier();
    }
    var position = carry + sums[half + thread] - sum;
    carry += sums[half + THREADS - 1u];
    workgroupBarrier();
    for (var v = 0u; v < VECTORS; v++) {
      let second = position + own[v].x;
      let third = second + own[v].y;
      let fourth = third + own[v].z;
      if (works && at + v < length) {
        counts[first + at + v] = vec4(position, second, third, fourth);
      }
      position = fourth + own[v].w;
    }
  }
  if (works && thread == 0u) {
    totals[window] = carry;
  }
}
{{/scan}}
{{#scatter}}

// Counters of a word, for consecutive bins of one thread, the only one that writes the word.
const PER_WORD = {{perWord}}u;
const COUNTER_BITS = 32u / PER_WORD;
const COUNTER_MASK = (1u << COUNTER_BITS) - 1u;
const WORDS = BINS / PER_WORD;
// Threads whose entries one counter can count.
const GROUP = {{group}}u;
const GROUPS = {{groups}}u;
// Threads that sum the entries of the windows in front, of which a batch has many.
const SHARERS = {{sharers}}u;

// The counters; afterwards the keys of the tile in order, then its point references.
var<workgroup> columns: array<u32, {{columnWords}}>;
// For each group of threads and each bin: entries, then the place of its first entry.
var<workgroup> places: array<u32, {{placeWords}}>;
// Position minus place of the entries of each bin.
var<workgroup> bases: array<u32, BINS>;
var<workgroup> in_front: array<u32, SHARERS>;
{{#held}}
// Entries of each bin of the tile, and of all of them.
var<workgroup> sizes: array<u32, BINS>;
var<workgroup> present: u32;
{{/held}}

fn increment(bin: u32, thread: u32) -> u32 {
  let at = bin / PER_WORD * THREADS + thread;
  let shift = bin % PER_WORD * COUNTER_BITS;
  let old = columns[at];
  columns[at] = old + (1u << shift);
  return (old >> shift) & COUNTER_MASK;
}

// Turns the counters of every bin into their exclusive scan over the threads of each group.
fn scan_groups(thread: u32) {
  for (var task = thread; task < WORDS * GROUPS; task += THREADS) {
    let word = task / GROUPS;
    let group = task % GROUPS;
    // all counters of a word at once: no sum exceeds the entries of a group, so none overflows
    var running = 0u;
    for (var t = group * GROUP; t < min(group * GROUP + GROUP, THREADS); t++) {
      let at = word * THREADS + t;
      let count = columns[at];
      columns[at] = running;
      running += count;
    }
    for (var k = 0u; k < PER_WORD; k++) {
      places[group * BINS + word * PER_WORD + k] = (running >> (k * COUNTER_BITS)) & COUNTER_MASK;
    }
  }
}

@compute @workgroup_size({{threads}})
fn sort_scatter(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let tile = group.x;
  let window = group.y;
  let length = select(0u, row_length(window), continue_chain(thread == 0u && all(group.xy == vec2(0u))));
  if (thread < SHARERS) {
    var share = 0u;
    for (var j = thread; j < window; j += SHARERS) {
      share += min(totals[j], config.row_length);
    }
    in_front[thread] = share;
  }
  let start = tile * TILE + thread * PER_THREAD;
{{#held}}
  var own: array<Entry, PER_THREAD>;
{{/held}}
  for (var j = 0u; j < PER_THREAD; j++) {
    let entry = entry_of(window, start + j, length);
    if (entry.point_ref != ABSENT) {
      increment(digit(entry.key), thread);
    }
{{#held}}
    own[j] = entry;
{{/held}}
  }
  workgroupBarrier();
  scan_groups(thread);
  workgroupBarrier();
{{#held}}
  for (var bin = thread; bin < BINS; bin += THREADS) {
    for (var g = 0u; g < GROUPS; g++) {
      sizes[bin] += places[g * BINS + bin];
    }
  }
  workgroupBarrier();
{{/held}}
  for (var bin = thread; bin < BINS; bin += THREADS) {
    var place = 0u;
{{#held}}
    for (var b = 0u; b < bin; b++) {
      place += sizes[b];
    }
{{/held}}
    // the last pass writes the windows contiguously, earlier passes write to their rows
    var target_base = window * config.row_length;
    if (config.last_pass == 1u) {
      target_base = 0u;
      for (var t = 0u; t < SHARERS; t++) {
        target_base += in_front[t];
      }
    }
    bases[bin] = target_base + counts[(window * BINS + bin) * config.tiles + tile] - place;
    for (var g = 0u; g < GROUPS; g++) {
      let count = places[g * BINS + bin];
      places[g * BINS + bin] = place;
      place += count;
    }
{{#held}}
    if (bin == BINS - 1u) {
      present = place;
    }
{{/held}}
  }
  workgroupBarrier();
  let key_base = select(0u, (config.first_window + window) * config.buckets, config.last_pass == 1u);
  let first_place = thread / GROUP * BINS;
{{^held}}
  for (var j = 0u; j < PER_THREAD; j++) {
    let entry = entry_of(window, start + j, length);
    if (entry.point_ref != ABSENT) {
      let bin = digit(entry.key);
      let place = places[first_place + bin] + increment(bin, thread);
      sorted[bases[bin] + place] = Entry(key_base + entry.key, entry.point_ref);
    }
  }
{{/held}}
{{#held}}
  var place_of: array<u32, PER_THREAD>;
  for (var j = 0u; j < PER_THREAD; j++) {
    let bin = digit(own[j].key);
    place_of[j] = ABSENT;
    if (own[j].point_ref != ABSENT) {
      place_of[j] = places[first_place + bin] + increment(bin, thread);
    }
  }
  workgroupBarrier();
  for (var j = 0u; j < PER_THREAD; j++) {
    if (place_of[j] != ABSENT) {
      columns[place_of[j]] = own[j].key;
    }
  }
  workgroupBarrier();
  var keys: array<u32, PER_THREAD>;
  for (var j = 0u; j < PER_THREAD; j++) {
    keys[j] = columns[j * THREADS + thread];
  }
  workgroupBarrier();
  for (var j = 0u; j < PER_THREAD; j++) {
    if (place_of[j] != ABSENT) {
      columns[place_of[j]] = own[j].point_ref;
    }
  }
  workgroupBarrier();
  for (var j = 0u; j < PER_THREAD; j++) {
    let place = j * THREADS + thread;
    if (place < present) {
      sorted[bases[digit(keys[j])] + place] = Entry(key_base + keys[j], columns[place]);
    }
  }
{{/held}}
}
{{/scatter}}
