// walk (the stream walker): sums the points of each run of equal keys in a sorted stream. It is the
// bucket accumulation of Pippenger's method by segmented reduction (Pippenger 1976; Blelloch 1993,
// "Prefix sums and their applications").
//
// The stream is cut into tasks (see partition.wgsl). A thread advances up to SLOTS tasks together.
// In each step every slot does one affine addition, and the additions of a step share one field
// inversion by Montgomery's batch inversion (Montgomery 1987): forward over the slots go the
// products of the denominators, then one inversion, then backward over the slots the single
// inverses and the sums. The prefix products are in private or in workgroup memory.
//
// Each sum has one writer, by the rules of runs.wgsl.
//
// Additions meet the generic case, doublings, opposite points, and infinity on either side. A step
// does only the generic case, on slots that are READY. Everything else, from the end of a run to a
// doubling, is done between two steps for the few slots that wait for it: SwiftShader executes code
// behind a branch even if no thread takes it, and on a GPU the threads of a subgroup do it
// together, each for one of its slots.
//
// Accounts (see hash-chain.wgsl): a level whose digest is wrong is not walked. `checksum` is the
// sum of the digests of the entries that were taken in, minus those of the carries that were left:
// over all walks of a stream it is the digest of the stream. `finite_points` counts points other
// than infinity, with one weight for a sum that is written and another for a point that is taken
// in, so that the weights of a walk's output and of the next walk's input cancel. Sums that the
// host reads back have a digest over their indices and words, taken from the thread's own copy so
// that it covers the write too. An instrumented walk also notes the writer of every sum and counts
// the entries that it takes in (dev/checks/watch.wgsl).
// Host: src/msm/stages/walk.ts. CPU reference: tests/reference/walk.ts.
{{structs}}
{{entry}}
{{> field}}
{{> inverse}}
const MATRICES = {{batches}}u;
{{> point}}
{{> hash_chain}}
{{level}}

{{bindings}}
{{#instrumented}}
{{> watch}}
{{/instrumented}}

alias Sum = Point;

fn sum_is_infinity(sum: Sum) -> bool {
  return point_is_infinity(sum);
}

{{> runs}}

const SLOTS = {{slots}}u;
const THREADS = {{threads}}u;

// State of a slot, as bits, besides PRESENT and OPEN of runs.wgsl. A slot without READY waits in a
// queue, or its task is done.
const READY = 4u;     // the entry under the cursor belongs to the run; it is added to the sum next
const SURE = 8u;      // the x of sum and entry are known to differ
const TANGENT = 16u;  // the entry equals the sum, so it is doubled; with SURE, by `tangent` already
const WARY = 32u;     // the task met infinity or an x twice; settle reads the second point of runs

// The slots of a thread, row by row: state, sum, and the prefix product where it is private. It is
// one array because compilers for AMD hold small arrays in registers and select among them at every
// index. The first row of a slot has its key in x, its state in y and its cursor in z. The w of all
// slots together are the queue: two stacks of waiting slots, those for settle from below and those
// for tangent from above. In walks with products of words, one more element behind the slots is the
// value that the products of a step pass on.
const ROWS = {{rows}}u;
var<private> memory: array<vec4<u32>, {{memoryRows}}>;
var<private> unsettled: u32;
var<private> tangents: u32;
{{#prefixIsShared}}
var<workgroup> prefixes: array<Packed, {{prefixLength}}>;
var<private> lane: u32;
{{/prefixIsShared}}

fn load_element(row: u32) -> Packed {
  return Packed({{#vectors}}memory[row + {{i}}u], {{/vectors}});
}

fn store_element(row: u32, element: Packed) {
{{#vectors}}
  memory[row + {{i}}u] = element.v{{i}};
{{/vectors}}
}

fn row_of_sum(slot: u32, in_y: bool) -> u32 {
  return slot * ROWS + select(1u, {{rowOfY}}u, in_y);
}

fn sum_of(slot: u32) -> Point {
  return Point(load_element(row_of_sum(slot, false)), load_element(row_of_sum(slot, true)));
}

fn set_sum(slot: u32, sum: Point) {
  store_element(row_of_sum(slot, false), sum.x);
  store_element(row_of_sum(slot, true), sum.y);
}
{{#prefixIsShared}}

// The prefix products of a thread are interleaved with those of its neighbours.
fn prefix(slot: u32) -> Canonical {
  return field_unpack(prefixes[slot * THREADS + lane]);
}

fn set_prefix(slot: u32, product: Tight) {
  prefixes[slot * THREADS + lane] = field_pack_any(product);
}
{{/prefixIsShared}}
{{^prefixIsShared}}

fn prefix(slot: u32) -> Canonical {
  return field_unpack(load_element(slot * ROWS + {{rowOfPrefix}}u));
}

fn set_prefix(slot: u32, product: Tight) {
  store_element(slot * ROWS + {{rowOfPrefix}}u, field_pack_any(product));
}
{{/prefixIsShared}}

fn load_point(point_ref: u32) -> Point {
  var point = points[point_ref & INDEX_MASK];
  point.y = packed_negated(point.y, (point_ref & NEGATE) != 0u);
  return point;
}

// Returns whether entry i belongs to the task and is a point of the run of `run_key`.
fn goes_on(i: u32, last: u32, run_key: u32) -> bool {
  let entry = stream[i];
  return (i < last) & (entry.key == run_key) & (entry.point_ref != ABSENT);
}

fn wait_for_settle(slot: u32) {
  memory[unsettled * ROWS].w = slot;
  unsettled += 1u;
}

// Sets a slot up for its task, with both carries absent at first.
fn begin(level: Level, slot: u32, t: u32) {
  let first = task_start(level, t);
  let last = task_start(level, t + 1u);
  memory[slot * ROWS].z = first;
  memory[slot * ROWS].y = 0u;
  wait_for_settle(slot);
  var first_key = 0u;
  var last_key = 0u;
  if (first < last) {
    first_key = stream[first].key;
    last_key = stream[last - 1u].key;
    if (first > 0u && stream[first - 1u].key == first_key) {
      memory[slot * ROWS].y = OPEN;
    }
  } else if (first > 0u) {
    first_key = stream[first - 1u].key;
    last_key = first_key;
  }
  memory[slot * ROWS].x = first_key;
  carries[2u * t] = Entry(first_key, ABSENT);
  carries[2u * t + 1u] = Entry(last_key, ABSENT);
  partials[2u * t] = point_infinity();
  partials[2u * t + 1u] = point_infinity();
}

// Takes a slot past the end of its run and past one entry, if that needs no inversion. Afterwards
// the slot is ready, waits again, or has finished its task.
fn settle(level: Level, slot: u32, t: u32) {
  let i = memory[slot * ROWS].z;
  let last = task_start(level, t + 1u);
  let run_key = memory[slot * ROWS].x;
  var flags = memory[slot * ROWS].y & (PRESENT | OPEN | WARY);
  var sum = sum_of(slot);
  // the first entry of the next task if this task is at its end
  let entry = stream[min(i, level.entries - 1u)];
  let same_run = entry.key == run_key;
  if (i >= last || !same_run) {
    flush(t, run_key, flags, sum, i < level.entries && same_run);
    flags &= WARY;
  }
  if (i < last) {
    var next = i + 1u;
    if (entry.point_ref != ABSENT) {
      let point = load_point(entry.point_ref);
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
      if (next != i) {
        checksum += digest_of(entry.key, entry.point_ref);
        finite_points += select(config.per_point, 0u, point_is_infinity(point));
{{#instrumented}}
        taken += 1u;
{{/instrumented}}
      }
    }
    if ((flags & TANGENT) != 0u) {
      tangents += 1u;
      memory[(SLOTS - tangents) * ROWS].w = slot;
    } else if ((flags & READY) == 0u) {
      if ((flags & (PRESENT | WARY)) == PRESENT && goes_on(next, last, entry.key)) {
        flags |= READY;
      } else {
        wait_for_settle(slot);
      }
    }
    set_sum(slot, sum);
    memory[slot * ROWS].x = entry.key;
    memory[slot * ROWS].z = next;
  }
  memory[slot * ROWS].y = flags;
}

// Returns the digest of the sums of all slots, where every task is one run: for each sum a hash
// chain over its index and its words.
fn digest_of_sums(slots: u32) -> u32 {
  var digest = 0u;
  for (var s = 0u; s < slots; s++) {
    var link = memory[s * ROWS].x;
    for (var i = 0u; i < {{sumRows}}u; i++) {
      let words = memory[row_of_sum(s, false) + i];
      link = absorb(absorb(absorb(absorb(link, words.x), words.y), words.z), words.w);
    }
    digest += link;
  }
  return digest;
}

// Returns the point that a slot doubles: the entry under its cursor, or after the step the entry
// before it.
fn tangent_point(slot: u32) -> Point {
  let next = memory[slot * ROWS].z;
  return load_point(stream[select(next, next - 1u, (memory[slot * ROWS].y & SURE) != 0u)].point_ref);
}

// Doubles P = (x, y) by means of a generic step. Before the step the sum is replaced by another
// point of the tangent at P, (x - 2·y, y - m) with m = 3·x² + a, which the step adds to P. The
// result differs from 2·P by the same amounts, and the second call corrects it.
fn tangent(level: Level, slot: u32, t: u32, square: Tight) {
  var flags = memory[slot * ROWS].y;
  let after = (flags & SURE) != 0u;
  let next = memory[slot * ROWS].z;
  let point = tangent_point(slot);
  var base = point;
  if (after) {
    base = sum_of(slot);
  }
  let y = field_unpack(point.y);
  let m = field_canonical(field_triple_plus(square, Tight({{aLimbs}})));
  let other = field_unpack(packed_negated(field_pack(m), after));
  set_sum(slot, Point(
    field_pack(field_canonical(field_minus_twice(
      field_tighten(canonical_loose(field_unpack(base.x))),
      field_tighten(canonical_loose(y)),
    ))),
    field_pack(field_canonical(field_tighten(canonical_minus(field_unpack(base.y), other)))),
  ));
  if (!after) {
    flags |= READY | SURE;
  } else {
    flags &= PRESENT | OPEN | WARY;
    if (goes_on(next, task_start(level, t + 1u), memory[slot * ROWS].x)) {
      flags |= READY;
    } else {
      wait_for_settle(slot);
    }
  }
  memory[slot * ROWS].y = flags;
}

// Phases of a step, each of which goes through the slots. They share one product, because compilers
// inline every call of it.
fn carried() -> Words {
  return field_unpack(load_element(SLOTS * ROWS));
}

fn set_carried(element: Words) {
  store_element(SLOTS * ROWS, field_pack_any(element));
}

const TANGENTS = 0u;
const FORWARD = 1u;
const INVERSES = 2u;
const SLOPES = 3u;
const X = 4u;
const Y = 5u;

fn operand_point(slot: u32, flags: u32, phase: u32) -> Point {
  let cursor = memory[slot * ROWS].z;
  return load_point(stream[select(cursor, cursor - 1u, phase == TANGENTS && (flags & SURE) != 0u)].point_ref);
}

@compute @workgroup_size({{threads}})
fn walk(
  @builtin(global_invocation_id) id: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let level = levels[config.level];
  let thread = id.x + id.y * groups.x * THREADS;
  if (level.digest != level_digest(level) || !continue_chain(thread == 0u) || thread >= level.threads) {
    return;
  }
  unseen_zero = config.level >> 31u;
{{#prefixIsShared}}
  lane = local;
{{/prefixIsShared}}
  // thread < threads <= tasks; the last slot of a thread may have no task
  let slots = min(SLOTS, (level.tasks - thread + level.threads - 1u) / level.threads) + unseen_zero;
  for (var s = 0u; s < slots; s++) {
    begin(level, s, thread + s * level.threads);
  }

  loop {
    while (unsettled > 0u) {
      unsettled -= 1u;
      let s = memory[unsettled * ROWS].w;
      settle(level, s, thread + s * level.threads);
    }
    // The value that the products pass on: the product of the denominators so far, and from
    // INVERSES on the inverse of those that remain.
    set_carried(field_one());
    var busy = false;
    for (var phase = TANGENTS; phase <= Y; phase++) {
      var turns = slots;
      if (phase == TANGENTS) {
        turns = tangents;
      } else if (phase == INVERSES) {
        if (!busy) {
          break;
        }
        set_carried(field_inverse(carried()));
        turns = 2u * slots;
      }
      for (var turn = 0u; turn < turns; turn++) {
        var s = turn;
        if (phase == TANGENTS) {
          s = memory[(SLOTS - tangents + turn) * ROWS].w;
        } else if (phase == INVERSES) {
          s = slots - 1u - (turn >> 1u);
        }
        let flags = memory[s * ROWS].y;
        if (phase != TANGENTS && (flags & READY) == 0u) {
          continue;
        }
        let point = operand_point(s, flags, phase);
        let in_y = phase == SLOPES;
        var coordinate = point.x;
        if (in_y) {
          coordinate = point.y;
        }
        let stored = load_element(row_of_sum(s, in_y));
        // The same x, or an x of 0, which infinity has and a point may have: rare on honest input.
        if (phase == FORWARD && (flags & SURE) == 0u && (packed_equal(stored, point.x) || packed_is_zero(stored) || packed_is_zero(point.x))) {
          memory[s * ROWS].y = (flags ^ READY) | WARY;
          wait_for_settle(s);
          continue;
        }
        let passes_on = phase == FORWARD || phase == INVERSES;
        let takes_off = phase == INVERSES && (turn & 1u) != 0u;
        let sum = field_unpack(stored);
        let other = field_unpack(coordinate);
        var b = carried();
        if (phase == FORWARD) {
          busy = true;
          set_prefix(s, b);
        }
        let own = prefix(s);
        if (!passes_on) {
          b = own;
        }
        var a = own;
        if (phase == FORWARD || takes_off || phase == SLOPES || phase == Y) {
          a = canonical_minus(other, sum);
        }
        if (phase == TANGENTS) {
          a = other;
          b = other;
        }
        // the value to subtract from the product; in y that of the entry, which is on the same line
        var less = field_unpack(point.y);
        if (phase == X) {
          less = words_sum(sum, other);
        }
        let product = field_mul(a, b);
        let t = thread + s * level.threads;
        if (phase >= X) {
          store_element(row_of_sum(s, phase == Y), field_pack(field_canonical(field_minus(product, less))));
          if (phase == Y) {
            step_on(level, s, t, flags);
          }
        } else if (phase == FORWARD || takes_off) {
          set_carried(product);
        } else {
          // the square for the tangent, the inverse of the slot's denominator and the slope, in the
          // place of the prefix product
          set_prefix(s, product);
        }
      }
      // Behind the turns, which all additions take, because tangents are rare: within them NVIDIA's
      // compiler gives the walk 155 registers instead of 117 (docs/reference/chips.md).
      while (phase == TANGENTS && tangents > 0u) {
        let s = memory[(SLOTS - tangents) * ROWS].w;
        tangents -= 1u;
        tangent(level, s, thread + s * level.threads, prefix(s));
      }
    }
    if (!busy && unsettled == 0u) {
      break;
    }
  }
  atomicAdd(&chain[config.checksum], checksum);
  if (finite_points != 0u) {
    atomicAdd(&chain[config.finite_points], finite_points);
  }
  if (config.read_back != 0u) {
    atomicAdd(&chain[config.read_back], digest_of_sums(slots));
  }
{{#instrumented}}
  note_taken();
{{/instrumented}}
}

// Moves the cursor of a slot past the entry that was added.
fn step_on(level: Level, slot: u32, t: u32, flags: u32) {
  let i = memory[slot * ROWS].z;
  memory[slot * ROWS].z = i + 1u;
  checksum += digest_of(memory[slot * ROWS].x, stream[i].point_ref);
  finite_points += config.per_point;
{{#instrumented}}
  taken += 1u;
{{/instrumented}}
  let doubles = (flags & TANGENT) != 0u;
  let ready = !doubles & goes_on(i + 1u, task_start(level, t + 1u), memory[slot * ROWS].x);
  memory[slot * ROWS].y = select(flags & ~READY, PRESENT | READY | (flags & (OPEN | WARY)), ready);
  if (!ready) {
    memory[(select(unsettled, SLOTS - 1u - tangents, doubles)) * ROWS].w = slot;
    unsettled += select(1u, 0u, doubles);
    tangents += select(0u, 1u, doubles);
  }
}
