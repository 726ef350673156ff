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
// Additions: generic, doubling, opposite points, infinity on either side. A step is only the generic one, on slots that are READY. All
// else, from the end of a run to a doubling, is done between two steps for the few slots that wait for it: SwiftShader carries out what
// stands behind a branch even where nobody takes it, and on a GPU the threads of a subgroup do it together, each for a slot of its own.
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

// What a slot is up to: bits of `state`. Without READY it waits in `queue`, or its task is done.
const PRESENT = 1u;   // acc[slot] holds a sum
const OPEN = 2u;      // the current run was open when the task began
const READY = 4u;     // the entry under the cursor belongs to the run, and is to be added to acc[slot]
const SURE = 8u;      // their x are known to differ
const TANGENT = 16u;  // the entry is what acc[slot] holds already; with SURE, acc[slot] stands for it
const WARY = 32u;     // the task has met infinity or an x twice, and settle looks at the second point of every run

var<{{placement}}> prefixes: array<Packed, {{prefixLength}}>;
var<private> acc: array<Point, SLOTS>;
var<private> key: array<u32, SLOTS>;
var<private> state: array<u32, SLOTS>;
var<private> cursor: array<u32, SLOTS>;
// Slots that wait, in two stacks: for settle from below, for tangent from above.
var<private> queue: array<u32, SLOTS>;
var<private> unsettled: u32;
var<private> tangents: u32;
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
  point.y = packed_negated(point.y, (handle & NEGATE) != 0u);
  return point;
}

fn task_start(level: Level, t: u32) -> u32 {
  return t * level.quotient + min(t, level.remainder);
}

// Whether the task's entry i is a point of the run of `run_key`.
fn goes_on(i: u32, last: u32, run_key: u32) -> bool {
  let entry = stream[i];
  return (i < last) & (entry.key == run_key) & (entry.handle != ABSENT);
}

fn wait_for_settle(slot: u32) {
  queue[unsettled] = slot;
  unsettled += 1u;
}

// The run of `run_key` is over, and `sum` its sum: it goes to where the rules say. `open` says that the run goes on in the next task.
fn flush(t: u32, run_key: u32, flags: u32, sum: Point, open: bool) {
  if ((flags & PRESENT) == 0u) {
    return;
  }
  if ((flags & OPEN) == 0u && !open) {
{{#checks}}
    note_writer(run_key, t);
{{/checks}}
    sums[run_key] = sum;
    return;
  }
  let place = 2u * t + select(1u, 0u, (flags & OPEN) != 0u);
  partials[place] = sum;
  places[place].handle = place;
}

// Sets a slot up for its task, with both places absent until there is something to put there.
fn begin(level: Level, slot: u32, t: u32) {
  let first = task_start(level, t);
  let last = task_start(level, t + 1u);
  cursor[slot] = first;
  state[slot] = 0u;
  wait_for_settle(slot);
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

// Takes a slot past the end of its run and past one entry, if that needs no inversion. The slot is ready then, or its task is done, or it
// waits again.
fn settle(level: Level, slot: u32, t: u32) {
  let i = cursor[slot];
  let last = task_start(level, t + 1u);
  let run_key = key[slot];
  var flags = state[slot] & (PRESENT | OPEN | WARY);
  var sum = acc[slot];
  // of the next task, where this one is at its end
  let entry = stream[min(i, level.entries - 1u)];
  let same_run = entry.key == run_key;
  if (i >= last || !same_run) {
    flush(t, run_key, flags, sum, i < level.entries && same_run);
    flags &= WARY;
  }
  if (i < last) {
    var next = i + 1u;
    if (entry.handle != ABSENT) {
      let point = load_point(entry.handle);
      let adds = (flags & PRESENT) != 0u && !point_is_infinity(sum);
      flags |= PRESENT | select(0u, WARY, point_is_infinity(point));
      if (!adds) {
        sum = point;
      } else if (!point_is_infinity(point)) {
        if (!packed_equal(point.x, sum.x)) {
          flags |= READY | SURE;
          next = i;
        } else if (packed_equal(point.y, sum.y) && !packed_is_zero(point.y)) {
          flags |= TANGENT;
          next = i;
        } else {
          // opposite points, or a point of order 2 and itself
          sum = point_infinity();
          flags |= WARY;
        }
      }
{{#checks}}
      taken += next - i;
{{/checks}}
    }
    if ((flags & TANGENT) != 0u) {
      tangents += 1u;
      queue[SLOTS - tangents] = slot;
    } else if ((flags & READY) == 0u) {
      if ((flags & (PRESENT | WARY)) == PRESENT && goes_on(next, last, entry.key)) {
        flags |= READY;
      } else {
        wait_for_settle(slot);
      }
    }
    acc[slot] = sum;
    key[slot] = entry.key;
    cursor[slot] = next;
  }
  state[slot] = flags;
}

// Doubles, around a generic step. In front of it acc[slot] becomes another point of the tangent in the point P = (x, y) there, which the step
// adds to P: (x - 2·y, y - m) with m = 3·x² + a. What the step computes is as far from the double again, and is put right here.
fn tangent(level: Level, slot: u32, t: u32) {
  var flags = state[slot];
  let after = (flags & SURE) != 0u;
  let next = cursor[slot];
  let point = load_point(stream[select(next, next - 1u, after)].handle);
  var base = point;
  if (after) {
    base = acc[slot];
  }
  let y = field_unpack(point.y);
  let square = field_square(field_tighten(canonical_loose(field_unpack(point.x))));
  let a = Tight({{aLimbs}});
  let m = field_canonical(field_tighten(Loose(
{{#limbs}}
    3u * square.l{{i}} + a.l{{i}},
{{/limbs}}
  )));
  let sign = select(0xffffffffu, 1u, after);
  let base_x = field_unpack(base.x);
  let base_y = field_unpack(base.y);
  acc[slot] = Point(
    field_pack(field_canonical(field_tighten(Loose(
{{#limbs}}
      base_x.l{{i}} - 2u * y.l{{i}},
{{/limbs}}
    )))),
    field_pack(field_canonical(field_tighten(Loose(
{{#limbs}}
      base_y.l{{i}} + sign * m.l{{i}},
{{/limbs}}
    )))),
  );
  if (!after) {
    flags |= READY | SURE;
  } else {
    flags &= PRESENT | OPEN | WARY;
    if (goes_on(next, task_start(level, t + 1u), key[slot])) {
      flags |= READY;
    } else {
      wait_for_settle(slot);
    }
  }
  state[slot] = flags;
}

@compute @workgroup_size({{threads}})
fn walk(
  @builtin(global_invocation_id) id: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let level = levels[config.level];
  // as dispatched: in an indirect dispatch browsers on D3D have to bring num_workgroups in by other ways
  let thread = id.x + id.y * level.groups_x * THREADS;
  if (thread >= level.threads) {
    return;
  }
  unseen_zero = config.level >> 31u;
{{#held}}
  hold_constants(id.z);
{{/held}}
{{#prefixIsShared}}
  lane = local;
{{/prefixIsShared}}
  // thread < threads <= tasks; the last slot of a thread may have no task
  let slots = (level.tasks - thread + level.threads - 1u) / level.threads;
  for (var s = 0u; s < slots; s++) {
    begin(level, s, thread + s * level.threads);
  }

  loop {
    while (unsettled > 0u) {
      unsettled -= 1u;
      let s = queue[unsettled];
      settle(level, s, thread + s * level.threads);
    }
    while (tangents > 0u) {
      let s = queue[SLOTS - tangents];
      tangents -= 1u;
      tangent(level, s, thread + s * level.threads);
    }
    var running = field_one();
    var busy = false;
    for (var s = 0u; s < slots; s++) {
      let flags = state[s];
      if ((flags & READY) == 0u) {
        continue;
      }
      let x1 = acc[s].x;
      let x2 = points[stream[cursor[s]].handle & INDEX_MASK].x;
      // The same x, or an x of 0, which infinity has and perhaps a point: hardly ever, on honest input.
      if (((flags & SURE) == 0u) & (packed_equal(x1, x2) | packed_is_zero(x1) | packed_is_zero(x2))) {
        state[s] = (flags ^ READY) | WARY;
        wait_for_settle(s);
        continue;
      }
      busy = true;
      prefixes[prefix_index(s)] = field_pack_any(running);
      running = field_mul(canonical_minus(field_unpack(x2), field_unpack(x1)), running);
    }
    if (!busy) {
      if (unsettled == 0u) {
        break;
      }
      continue;
    }
    var inverse = field_inverse(running);
    for (var s = slots; s > 0u; s--) {
      let flags = state[s - 1u];
      if ((flags & READY) != 0u) {
        inverse = add_step(level, s - 1u, thread + (s - 1u) * level.threads, flags, inverse);
      }
    }
  }
{{#checks}}
  atomicAdd(&findings[counter_taken(config.level)], taken);
{{/checks}}
}

// acc[slot] takes in the entry under its cursor. `inverse` is that of the product of the denominators of slots 0 to `slot`; what
// comes back is the same for one slot less.
//
// The products stand in a row on purpose: as a loop around one product this compiles in three quarters of the time and runs 2.2
// times slower on SwiftShader, where what a loop carries goes through memory (docs/performance.md).
fn add_step(level: Level, slot: u32, t: u32, flags: u32, inverse: Tight) -> Tight {
  let i = cursor[slot];
  let point = load_point(stream[i].handle);
  let sum = acc[slot];
  let own_inverse = field_mul(canonical_loose(field_unpack(prefixes[prefix_index(slot)])), inverse);
  let x1 = field_unpack(sum.x);
  let x2 = field_unpack(point.x);
  let rest = field_mul(canonical_minus(x2, x1), inverse);
  let y1 = field_unpack(sum.y);
  let slope = field_mul(canonical_minus(field_unpack(point.y), y1), own_inverse);
  let x3 = field_canonical(field_square_minus(slope, x1, x2));
  let y3 = field_canonical(field_mul_minus(canonical_minus(x1, x3), slope, y1));
  acc[slot] = Point(field_pack(x3), field_pack(y3));
  cursor[slot] = i + 1u;
{{#checks}}
  taken += 1u;
{{/checks}}
  let doubles = (flags & TANGENT) != 0u;
  let ready = !doubles & goes_on(i + 1u, task_start(level, t + 1u), key[slot]);
  state[slot] = select(flags & ~READY, PRESENT | READY | (flags & (OPEN | WARY)), ready);
  if (!ready) {
    queue[select(unsettled, SLOTS - 1u - tangents, doubles)] = slot;
    unsettled += select(1u, 0u, doubles);
    tangents += select(0u, 1u, doubles);
  }
  return rest;
}
