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
const SQUARE = 8u;    // this step begins to double acc[slot]
const DOUBLE = 16u;   // this step doubles the point that acc[slot] was

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

// The run of `run_key` is over, and `sum` its sum: it goes to where the rules say. `open` says that the run goes on in the next task.
fn flush(slot: u32, run_key: u32, flags: u32, sum: Point, open: bool) {
  if ((flags & PRESENT) == 0u) {
    return;
  }
  if ((flags & OPEN) == 0u && !open) {
{{#checks}}
    note_writer(run_key, task[slot]);
{{/checks}}
    sums[run_key] = sum;
    return;
  }
  let place = 2u * task[slot] + select(1u, 0u, (flags & OPEN) != 0u);
  partials[place] = sum;
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
  var flags = state[slot];
  if ((flags & SQUARE) != 0u) {
    state[slot] = flags ^ (SQUARE | DOUBLE);
    return;
  }
  flags &= PRESENT | OPEN;
  // what is indexed by slot is read and written once: every such access is a lot of code on some devices
  var sum = acc[slot];
  var run_key = key[slot];
  let last = end[slot];
  var i = cursor[slot];
  for (; i < last; i++) {
    let entry = stream[i];
    if (entry.key != run_key) {
      flush(slot, run_key, flags, sum, false);
      run_key = entry.key;
      flags = 0u;
    }
    if (entry.handle == ABSENT) {
      continue;
    }
{{#checks}}
    taken += 1u;
{{/checks}}
    let x = points[entry.handle & INDEX_MASK].x;
    let present = (flags & PRESENT) != 0u;
    if (present && !(packed_equal(x, sum.x) || packed_is_zero(x) || packed_is_zero(sum.x))) {
      flags |= ADD;
      break;
    }
    // The first point of a run. Or the same x, or an x of 0, which infinity has and perhaps a point: hardly ever, on honest input.
    let point = load_point(entry.handle);
    if (!present) {
      sum = point;
      flags |= PRESENT;
      continue;
    }
    if (point_is_infinity(point)) {
      continue;
    }
    if (point_is_infinity(sum)) {
      sum = point;
      continue;
    }
    if (!packed_equal(x, sum.x)) {
      flags |= ADD;
      break;
    }
    if (packed_equal(point.y, sum.y) && !packed_is_zero(point.y)) {
      flags |= SQUARE;
      break;
    }
    // opposite points, or a point of order 2 and itself
    sum = point_infinity();
  }
  acc[slot] = sum;
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
      let flags = state[s];
      if ((flags & (ADD | SQUARE | DOUBLE)) == 0u) {
        continue;
      }
      busy = true;
      prefixes[prefix_index(s)] = field_pack_any(running);
      let x2 = points[stream[cursor[s]].handle & INDEX_MASK].x;
      running = field_mul(denominator(flags, acc[s], x2), running);
    }
    if (!busy) {
      break;
    }
    var inverse = field_inverse(running);
    for (var s = slots; s > 0u; s--) {
      if ((state[s - 1u] & (ADD | SQUARE | DOUBLE)) != 0u) {
        inverse = add_step(s - 1u, inverse);
      }
    }
  }

  for (var s = 0u; s < slots; s++) {
    let after = end[s];
    let open = after < level.entries && stream[min(after, level.entries - 1u)].key == key[s];
    if (task_start(level, task[s]) < after) {
      flush(s, key[s], state[s], acc[s], open);
    }
  }
{{#checks}}
  atomicAdd(&findings[counter_taken(config.level)], taken);
{{/checks}}
}

// What a step needs the inverse of: x2 - x1; 2·y for a doubling, as y - (-y); 1 where only a square is wanted. Never 0.
fn denominator(flags: u32, sum: Point, x2: Packed) -> Loose {
  var left = x2;
  var right = sum.x;
  // chosen as words, which are fewer than limbs
  if ((flags & ADD) == 0u) {
    left = sum.y;
    right = packed_neg(sum.y);
    if ((flags & SQUARE) != 0u) {
      left = packed_one();
      right = packed_zero();
    }
  }
  return canonical_minus(field_unpack(left), field_unpack(right));
}

// acc[slot] takes in the entry under its cursor. `inverse` is that of the product of the denominators of slots 0 to `slot`; what
// comes back is the same for one slot less.
//
// A doubling takes two steps, so that it has no product of its own: every call of one is compiled again. The sum and the entry are the
// same point then, and the first step leaves 3·x² + a in the place of the sum's x.
//
// The products stand in a row on purpose: as a loop around one product this compiles in three quarters of the time and runs 2.2
// times slower on SwiftShader, where what a loop carries goes through memory (docs/performance.md).
fn add_step(slot: u32, inverse: Tight) -> Tight {
  var own_inverse = field_mul(canonical_loose(field_unpack(prefixes[prefix_index(slot)])), inverse);
  let flags = state[slot];
  let sum = acc[slot];
  let point = load_point(stream[cursor[slot]].handle);
  let rest = field_mul(denominator(flags, sum, point.x), inverse);
  // y2 - y1, or the square's side, or 3·x² + a
  var left = point.y;
  var right = sum.y;
  var first = sum.x;
  if ((flags & ADD) == 0u) {
    left = sum.x;
    right = packed_zero();
    first = point.x;
  }
  let numerator = canonical_minus(field_unpack(left), field_unpack(right));
  if ((flags & SQUARE) != 0u) {
    own_inverse = field_tighten(numerator);
  }
  let slope = field_mul(numerator, own_inverse);
  let x1 = field_unpack(first);
  // one way out for both: SwiftShader carries out what stands behind a branch even where nobody takes it
  var next = field_square_minus(slope, x1, field_unpack(point.x));
  if ((flags & SQUARE) != 0u) {
    let a = Tight({{aLimbs}});
    next = field_tighten(Loose(
{{#limbs}}
      3u * slope.l{{i}} + a.l{{i}},
{{/limbs}}
    ));
  }
  let x3 = field_canonical(next);
  var y = field_pack(field_canonical(field_mul_minus(canonical_minus(x1, x3), slope, field_unpack(sum.y))));
  if ((flags & SQUARE) != 0u) {
    y = sum.y;
  } else {
    cursor[slot] += 1u;
  }
  acc[slot] = Point(field_pack(x3), y);
  return rest;
}
