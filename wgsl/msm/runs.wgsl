// Ends of tasks and of runs, for both forms of the walk. They define Sum and sum_is_infinity.
//
// Each sum has one writer (proof: docs/contributing/decisions/01-one-writer.md):
//   1. A run that begins and ends inside one task is written to `sums[key]` by that task alone.
//   2. Any other run leaves task t as a carry. Carry 2t (carry-in, the head) is for the run that
//      was open when the task began, carry 2t + 1 (carry-out, the tail) for a run that began here
//      and is open at the end. The neighbouring keys say which runs are open.
//   3. Every task writes both carries. An absent head has the first key of the task, an absent tail
//      the last key, and an empty task the key before it. So the carries are a stream sorted by
//      key, and this walk again combines them.
// A run without a present entry writes nothing. Infinity is a value and not absence.

// State of a run, as bits.
const PRESENT = 1u;  // there is a sum
const OPEN = 2u;     // the run was open when the task began

// Values that this thread adds to the accounts.
var<private> checksum: u32;
var<private> finite_points: u32;

fn task_start(level: Level, t: u32) -> u32 {
  return t * level.quotient + min(t, level.remainder);
}

// Ends the run of `run_key` and writes its sum as the rules above say. `open`: the run goes on in
// the next task.
fn flush(t: u32, run_key: u32, flags: u32, sum: Sum, open: bool) {
  if ((flags & PRESENT) == 0u) {
    return;
  }
  if ((flags & OPEN) == 0u && !open) {
{{#instrumented}}
    note_writer(run_key, t);
{{/instrumented}}
    sums[run_key] = sum;
    finite_points += select(config.per_sum, 0u, sum_is_infinity(sum));
    return;
  }
  let carry = 2u * t + select(1u, 0u, (flags & OPEN) != 0u);
  partials[carry] = sum;
  carries[carry].point_ref = carry;
  checksum -= digest_of(run_key, carry);
}
