// check: what has to hold between the stages, looked up on the GPU in the buffers that they really left. A debug mode
// (`tuning.checks`), of a module of its own, `webgpu-msm/checks`; nothing of it is compiled or run otherwise.
//   check_poison    fills a buffer before a stage is to write it, so that what nobody wrote is no valid value
//   check_sorted    the sorted stream is a permutation of the digits that are not zero: every entry is one that decompose wrote,
//                   (key, base) ascends strictly, so none is there twice, and there are as many (the host compares the counts)
//   check_stream    the keys of a stream ascend and exist; notes which sums have an entry; counts the entries
//   check_partials  both places of every task of a walk were written; what they hold is on the curve; nothing is left after the last
//   check_sums      a sum was written exactly if it has an entry (that it is written once, the walk watches itself); it is on the curve
// Host: src/checks/. It computes nothing, and so has no CPU twin: tests/checks.test.ts breaks the stages.
{{structs}}
{{entry}}
{{#needsPoints}}
{{> field}}
{{> point}}
{{/needsPoints}}
{{bindings}}
{{#reports}}
{{> hash_chain}}
{{level}}
{{> findings}}
{{/reports}}

fn index_of(id: vec3<u32>, groups: vec3<u32>) -> u32 {
  return id.x + id.y * groups.x * {{threads}}u;
}
{{#needsPoints}}

fn is_valid(a: Point) -> bool {
  if (point_is_infinity(a)) {
    return true;
  }
  if (!packed_is_canonical(a.x) || !packed_is_canonical(a.y)) {
    return false;
  }
  let x = field_tighten(canonical_loose(field_unpack(a.x)));
  let y = field_tighten(canonical_loose(field_unpack(a.y)));
  let cubic = field_mul(field_plus(field_square(x), Tight({{aLimbs}})), x);
  let rest = field_minus(field_square(y), field_tighten(field_plus(cubic, Tight({{bLimbs}}))));
  return packed_is_zero(field_pack(field_canonical(field_tighten(rest))));
}
{{/needsPoints}}
{{#poison}}

@compute @workgroup_size({{threads}})
fn check_poison(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = index_of(id, groups);
  if (i < arrayLength(&words)) {
    words[i] = {{poisonWord}}u;
  }
}
{{/poison}}
{{#sorted}}

@compute @workgroup_size({{threads}})
fn check_sorted(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = index_of(id, groups);
  if (!continue_chain(i == 0u) || i >= config.row_length * config.windows) {
    return;
  }
  if (digits[i].point_ref != ABSENT) {
    atomicAdd(&chain[FINDING_digits], 1u);
  }
  var length = 0u;
  for (var w = 0u; w < config.windows; w++) {
    length += min(totals[w], config.row_length);
  }
  if (i >= length) {
    return;
  }
  let entry = stream[i];
  let window = entry.key / config.buckets - config.first_window;
  if (entry.key / config.buckets < config.first_window || window >= config.windows) {
    report(FORGED, 0u, entry.key, NO_TASK);
    return;
  }
  let vector = vectors[(config.first_window + window) / config.vector_windows];
  let index = entry.point_ref & INDEX_MASK;
  let scalar = index / config.tables - vector.first_base;
  let piece = index % config.tables;
  if (scalar >= vector.length || piece >= config.blocks) {
    report(FORGED, 0u, entry.key, NO_TASK);
    return;
  }
  let digit = digits[window * config.row_length + scalar * config.blocks + piece];
  if (digit.point_ref != entry.point_ref || digit.key != entry.key % config.buckets) {
    report(FORGED, 0u, entry.key, NO_TASK);
  }
  if (i + 1u < length) {
    let next = stream[i + 1u];
    if (next.key < entry.key) {
      report(UNSORTED, 0u, next.key, NO_TASK);
    } else if (next.key == entry.key && (next.point_ref & INDEX_MASK) <= (entry.point_ref & INDEX_MASK)) {
      report(UNSTABLE, 0u, entry.key, NO_TASK);
    }
  }
}
{{/sorted}}
{{#stream}}

// The task that owns entry i.
fn task_of(level: Level, i: u32) -> u32 {
  let longer = level.remainder * (level.quotient + 1u);
  if (i < longer) {
    return i / (level.quotient + 1u);
  }
  return level.remainder + (i - longer) / max(level.quotient, 1u);
}

@compute @workgroup_size({{threads}})
fn check_stream(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = index_of(id, groups);
  if (!continue_chain(i == 0u)) {
    return;
  }
  let level = levels[config.level];
  if (i == 0u && level.tasks > 0u && level.entries != level.tasks * level.quotient + level.remainder) {
    report(MISCUT, config.level, 0u, NO_TASK);
  }
  if (i >= level.entries) {
    return;
  }
  let entry = stream[i];
  if (entry.key >= config.keys) {
    report(STRAY_KEY, config.level, entry.key, task_of(level, i));
    return;
  }
  let before = stream[max(i, 1u) - 1u].key;
  if (before > entry.key && before < config.keys) {
    report(UNSORTED, config.level, entry.key, task_of(level, i));
  }
  if (entry.point_ref != ABSENT) {
    atomicOr(&writers[entry.key], EXPECTED);
    atomicAdd(&chain[counter_present(config.level)], 1u);
  }
}
{{/stream}}
{{#partials}}

@compute @workgroup_size({{threads}})
fn check_partials(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = index_of(id, groups);
  if (!continue_chain(i == 0u) || i >= 2u * levels[config.level].tasks) {
    return;
  }
  let place = carries[i];
  let partial = partials[i];
  if (place.point_ref == ABSENT) {
    if (!point_is_infinity(partial)) {
      report(MISPLACED, config.level, place.key, i / 2u);
    }
    return;
  }
  if (place.point_ref != i) {
    report(MISPLACED, config.level, place.key, i / 2u);
  } else if (config.last == 1u) {
    report(LEFT_OPEN, config.level, place.key, i / 2u);
  }
  if (!is_valid(partial)) {
    report(OFF_CURVE, config.level, place.key, i / 2u);
  }
}
{{/partials}}
{{#sums}}

@compute @workgroup_size({{threads}})
fn check_sums(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = index_of(id, groups);
  if (!continue_chain(i == 0u) || i >= config.keys) {
    return;
  }
  let noted = atomicLoad(&writers[i]);
  let written = (noted & WRITER_COUNT) != 0u;
  let level = select(config.level, (noted & ~(EXPECTED | WRITER_COUNT)) >> WRITER_LEVEL_SHIFT, written);
  let task = select(NO_TASK, noted & WRITER_TASK, written);
  if (!written && (noted & EXPECTED) != 0u) {
    report(UNWRITTEN, level, i, task);
  } else if (!is_valid(sums[i]) || (!written && !point_is_infinity(sums[i]))) {
    report(OFF_CURVE, level, i, task);
  }
}
{{/sums}}
