// check: looks on the GPU, between the stages, whether the buffers hold what the next stage relies
// on. A tool for authors of kernels, which no package contains (dev/checks/engine.ts makes an
// engine with it).
//   check_poison    fills a buffer before a stage writes it, so that an element which no stage
//     wrote is recognised
//   check_sorted    the sorted stream is a permutation of the nonzero digits: decompose wrote every
//     entry, (key, base) ascends strictly, so no entry is there twice, and the host compares the
//     numbers of both
//   check_stream    the keys of a stream ascend and exist; notes which sums have an entry; counts
//     the entries
//   check_partials  every task of a walk wrote its carry-in and its carry-out; partial sums are on
//     the curve; the last walk leaves none
//   check_sums      a sum was written if and only if it has an entry, and is on the curve; the walk
//     itself notes a second writer
// Host: dev/checks/. The checks compute nothing, so they have no CPU reference:
// tests/stages/checks.test.ts breaks the stages instead.
{{structs}}
{{entry}}
{{#needsPoints}}
{{> field}}
{{> point}}
{{> extended}}
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

fn element(a: Packed) -> Tight {
  return field_tighten(canonical_loose(field_unpack(a)));
}

fn are_equal(a: Tight, b: Tight) -> bool {
  return packed_is_zero(field_pack(field_canonical(field_tighten(field_minus(a, b)))));
}
{{^isExtended}}

fn is_infinity(a: Point) -> bool {
  return point_is_infinity(a);
}

fn is_valid(a: Point) -> bool {
  if (is_infinity(a)) {
    return true;
  }
  if (!packed_is_canonical(a.x) || !packed_is_canonical(a.y)) {
    return false;
  }
  let x = element(a.x);
  let cubic = field_mul(field_plus(field_square(x), Tight({{aLimbs}})), x);
  return are_equal(field_square(element(a.y)), field_tighten(field_plus(cubic, Tight({{bLimbs}}))));
}
{{/isExtended}}
{{#isExtended}}

fn is_infinity(a: Extended) -> bool {
  return packed_is_zero(a.x) && packed_is_zero(a.y) && packed_is_zero(a.zz) && packed_is_zero(a.zzz);
}

// Returns whether zz³ = zzz² and y² = x³ + a·x·zz² + b·zz³.
fn is_valid(a: Extended) -> bool {
  if (is_infinity(a)) {
    return true;
  }
  if (!packed_is_canonical(a.x) || !packed_is_canonical(a.y) || !packed_is_canonical(a.zz) || !packed_is_canonical(a.zzz) || packed_is_zero(a.zz)) {
    return false;
  }
  let x = element(a.x);
  let zz2 = field_square(element(a.zz));
  let zz3 = field_mul(field_loose(zz2), element(a.zz));
  let a_zz2 = field_mul(field_loose(Tight({{aLimbs}})), zz2);
  let b_zz3 = field_mul(field_loose(Tight({{bLimbs}})), zz3);
  let cubic = field_mul(field_plus(field_square(x), a_zz2), x);
  return are_equal(zz3, field_square(element(a.zzz))) && are_equal(field_square(element(a.y)), field_tighten(field_plus(cubic, b_zz3)));
}
{{/isExtended}}
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
  let block = index % config.tables;
  if (scalar >= vector.length || block >= config.blocks) {
    report(FORGED, 0u, entry.key, NO_TASK);
    return;
  }
  let digit = digits[window * config.row_length + scalar * config.blocks + block];
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

// Returns the task that owns entry i.
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
  let carry = carries[i];
  let partial = partials[i];
  if (carry.point_ref == ABSENT) {
    if (!is_infinity(partial)) {
      report(STRAY_CARRY, config.level, carry.key, i / 2u);
    }
    return;
  }
  if (carry.point_ref != i) {
    report(STRAY_CARRY, config.level, carry.key, i / 2u);
  } else if (config.last == 1u) {
    report(LEFT_OPEN, config.level, carry.key, i / 2u);
  }
  if (!is_valid(partial)) {
    report(OFF_CURVE, config.level, carry.key, i / 2u);
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
  } else if (!is_valid(sums[i]) || (!written && !is_infinity(sums[i]))) {
    report(OFF_CURVE, level, i, task);
  }
}
{{/sums}}
