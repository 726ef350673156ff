// walk (the stream-walker): sums the points of each run of equal keys in a sorted stream.
//
// The stream is cut into tasks (see partition.wgsl). A thread advances up to SLOTS tasks together, one affine addition each per
// step; the additions of a step share one field inversion (Montgomery's trick): forward over the slots the products of the
// denominators, one inversion, backward over the slots the single inverses and the sums. The prefix products live in
// {{placement}} memory.
//
// Who writes what (the proof is in docs/architecture.md):
//   1. A key whose run begins and ends inside one task is written to `sums[key]` by that task, and by nobody else.
//   2. Any other run leaves task t through places 2t (head: the run was open when the task began) or 2t + 1 (tail: the run
//      began here and is still open at the end) of the next level's stream. Whether it is open is read off the neighbouring keys.
//   3. Every task writes both places on every run. An absent head carries the first key of the task, an absent tail the last, an
//      empty task the key before it: the places are again a stream sorted by key, and combining it is this walk again.
// A run without a present entry writes nothing. Infinity, stored as (0, 0), is a value and not absence.
//
// Additions: generic, doubling, opposite points, infinity on either side. All but the first two need no inversion and are done
// while the slot looks for its next addition.
// With `checks` it also counts the writers of every sum and the entries that it took in (see check.wgsl).
// Host: src/stages/walk.ts. CPU twin: src/twins/walk.ts.
{{structs}}
{{entry}}
{{> field}}
{{> inverse}}
{{> point}}

{{bindings}}
{{#checks}}
{{> findings}}

// Present entries that this thread took in.
var<private> taken: u32;

fn note_writer(bucket: u32, writer: u32) {
  let before = atomicAdd(&writers[bucket], ONE_WRITER | (config.level << WRITER_LEVEL_SHIFT) | writer);
  if ((before & EXPECTED) == 0u) {
    report(UNWANTED, config.level, bucket, writer);
  }
  if ((before & WRITER_COUNT) != 0u) {
    report(TWO_WRITERS, config.level, bucket, writer);
  }
}
{{/checks}}

const SLOTS = {{slots}}u;
const THREADS = {{threads}}u;

// What a slot is up to: bits of `state`.
const PRESENT = 1u;   // acc[slot] holds a sum
const OPEN = 2u;      // the current run was open when the task began
const ADD = 4u;       // this step adds two points with different x
const DOUBLE = 8u;    // this step doubles acc[slot]

var<{{placement}}> prefixes: array<Packed, {{prefixLength}}>;
var<private> acc: array<Point, SLOTS>;
var<private> key: array<u32, SLOTS>;
var<private> state: array<u32, SLOTS>;
var<private> cursor: array<u32, SLOTS>;
var<private> end: array<u32, SLOTS>;
var<private> task: array<u32, SLOTS>;
{{#prefixIsShared}}
var<private> lane: u32;

// a thread's own prefix products, interleaved with its neighbours'
fn prefix_index(slot: u32) -> u32 {
  return slot * THREADS + lane;
}
{{/prefixIsShared}}
{{^prefixIsShared}}

fn prefix_index(slot: u32) -> u32 {
  return slot;
}
{{/prefixIsShared}}

fn load_point(handle: u32) -> Point {
  var point = points[handle & INDEX_MASK];
  if ((handle & NEGATE) != 0u) {
    point.y = packed_neg(point.y);
  }
  return point;
}

fn task_start(level: Level, t: u32) -> u32 {
  return t * level.quotient + min(t, level.remainder);
}

// The run of `run_key` in acc[slot] is over: its sum goes to where the rules say. `open` says that it goes on in the next task.
fn flush(slot: u32, run_key: u32, flags: u32, open: bool) {
  if ((flags & PRESENT) == 0u) {
    return;
  }
  if ((flags & OPEN) == 0u && !open) {
{{#checks}}
    note_writer(run_key, task[slot]);
{{/checks}}
    sums[run_key] = acc[slot];
    return;
  }
  let place = 2u * task[slot] + select(1u, 0u, (flags & OPEN) != 0u);
  partials[place] = acc[slot];
  places[place].handle = place;
}

// Sets a slot up for its task, with both places absent until there is something to put there.
fn begin(level: Level, slot: u32, t: u32) {
  let first = task_start(level, t);
  let last = task_start(level, t + 1u);
  task[slot] = t;
  cursor[slot] = first;
  end[slot] = last;
  state[slot] = 0u;
  var first_key = 0u;
  var last_key = 0u;
  if (first < last) {
    first_key = stream[first].key;
    last_key = stream[last - 1u].key;
    if (first > 0u && stream[first - 1u].key == first_key) {
      state[slot] = OPEN;
    }
  } else if (first > 0u) {
    first_key = stream[first - 1u].key;
    last_key = first_key;
  }
  key[slot] = first_key;
  places[2u * t] = Entry(first_key, ABSENT);
  places[2u * t + 1u] = Entry(last_key, ABSENT);
  partials[2u * t] = point_infinity();
  partials[2u * t + 1u] = point_infinity();
}

// Moves a slot to its next addition that needs an inversion, and does all that needs none on the way.
fn advance(slot: u32) {
  var flags = state[slot] & (PRESENT | OPEN);
  var run_key = key[slot];
  let last = end[slot];
  var i = cursor[slot];
  for (; i < last; i++) {
    let entry = stream[i];
    if (entry.key != run_key) {
      flush(slot, run_key, flags, false);
      run_key = entry.key;
      flags = 0u;
    }
    if (entry.handle == ABSENT) {
      continue;
    }
{{#checks}}
    taken += 1u;
{{/checks}}
    if ((flags & PRESENT) == 0u) {
      acc[slot] = load_point(entry.handle);
      flags |= PRESENT;
      continue;
    }
    let x = points[entry.handle & INDEX_MASK].x;
    if (!(packed_equal(x, acc[slot].x) || packed_is_zero(x) || packed_is_zero(acc[slot].x))) {
      flags |= ADD;
      break;
    }
    // The same x, or an x of 0, which infinity has and perhaps a point. Hardly ever, on honest input.
    let point = load_point(entry.handle);
    if (packed_is_zero(x) && packed_is_zero(point.y)) {
      continue;
    }
    if (packed_is_zero(acc[slot].x) && packed_is_zero(acc[slot].y)) {
      acc[slot] = point;
      continue;
    }
    if (!packed_equal(x, acc[slot].x)) {
      flags |= ADD;
      break;
    }
    if (packed_equal(point.y, acc[slot].y) && !packed_is_zero(point.y)) {
      flags |= DOUBLE;
      break;
    }
    // opposite points, or a point of order 2 and itself
    acc[slot] = point_infinity();
  }
  key[slot] = run_key;
  state[slot] = flags;
  cursor[slot] = i;
}

@compute @workgroup_size({{threads}})
fn walk(
  @builtin(global_invocation_id) id: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let level = levels[config.level];
  let thread = id.x + id.y * groups.x * THREADS;
  if (thread >= level.threads) {
    return;
  }
{{#prefixIsShared}}
  lane = local;
{{/prefixIsShared}}
  // thread < threads <= tasks; the last slot of a thread may have no task
  var slots = (level.tasks - thread + level.threads - 1u) / level.threads;
  for (var s = 0u; s < slots; s++) {
    begin(level, s, thread + s * level.threads);
  }

  loop {
    var running = field_one();
    var busy = false;
    for (var s = 0u; s < slots; s++) {
      advance(s);
      if ((state[s] & (ADD | DOUBLE)) == 0u) {
        continue;
      }
      busy = true;
      prefixes[prefix_index(s)] = field_pack(field_canonical(running));
      running = field_mul(denominator(s), running);
    }
    if (!busy) {
      break;
    }
    var inverse = field_inverse(running);
    for (var s = slots; s > 0u; s--) {
      if ((state[s - 1u] & (ADD | DOUBLE)) != 0u) {
        inverse = add_step(s - 1u, inverse);
      }
    }
  }

  for (var s = 0u; s < slots; s++) {
    let after = end[s];
    let open = after < level.entries && stream[min(after, level.entries - 1u)].key == key[s];
    if (task_start(level, task[s]) < after) {
      flush(s, key[s], state[s], open);
    }
  }
{{#checks}}
  atomicAdd(&findings[counter_taken(config.level)], taken);
{{/checks}}
}

// x2 - x1, or 2·y1 for a doubling, as y1 - (-y1). Never 0.
fn denominator(slot: u32) -> Loose {
  if ((state[slot] & DOUBLE) != 0u) {
    return canonical_minus(field_unpack(acc[slot].y), field_unpack(packed_neg(acc[slot].y)));
  }
  let x2 = field_unpack(points[stream[cursor[slot]].handle & INDEX_MASK].x);
  return canonical_minus(x2, field_unpack(acc[slot].x));
}

// 3·x² + a.
fn tangent(x: Canonical) -> Loose {
  let square = field_mul(canonical_loose(x), field_tighten(canonical_loose(x)));
  return field_loose(field_tighten(Loose(
{{#tangent}}
    3 * square.l{{i}} + {{a}},
{{/tangent}}
  )));
}

// acc[slot] takes in the entry under its cursor. `inverse` is that of the product of the denominators of slots 0 to `slot`; what
// comes back is the same for one slot less.
//
// The products stand in a row on purpose: as a loop around one product this compiles in three quarters of the time and runs 2.2
// times slower on SwiftShader, where what a loop carries goes through memory (docs/performance.md).
fn add_step(slot: u32, inverse: Tight) -> Tight {
  let own_inverse = field_mul(canonical_loose(field_unpack(prefixes[prefix_index(slot)])), inverse);
  let rest = field_mul(denominator(slot), inverse);
  let x1 = field_unpack(acc[slot].x);
  let y1 = field_unpack(acc[slot].y);
  var x2 = x1;
  var numerator: Loose;
  if ((state[slot] & DOUBLE) != 0u) {
    numerator = tangent(x1);
  } else {
    let point = load_point(stream[cursor[slot]].handle);
    x2 = field_unpack(point.x);
    numerator = canonical_minus(field_unpack(point.y), y1);
  }
  let slope = field_mul(numerator, own_inverse);
  let x3 = field_canonical(field_square_minus(slope, x1, x2));
  let y3 = field_canonical(field_mul_minus(canonical_minus(x1, x3), slope, y1));
  acc[slot] = Point(field_pack(x3), field_pack(y3));
  cursor[slot] += 1u;
  return rest;
}
