// program: runs a program of field operations on every point when bases are loaded, for operations
// that are too rare to have a kernel of their own: computing y of a compressed point, mapping a
// point from another curve model, testing membership of the subgroup. One thread per point.
//
// A program is a list of words. Bits 0 to 3 of a word are the operation, 4 to 9 the register that
// is written, 10 to 15 the first operand, 16 to 21 the second, and 22 and up how often the first is
// squared before; of a CONSTANT, bits 16 and up are its index. Registers hold elements as memory
// does, canonical. Registers 0 and 1 begin as x and y of the point. All threads execute the same
// steps. Points that are infinity or have a coordinate >= p stay as they are, and the import
// reports them. A point that fails a requirement is reported as the import does, in an account of
// its own.
// Host: src/msm/stages/program.ts. CPU reference: tests/reference/program.ts.
{{structs}}
{{> field}}
{{> point}}

{{bindings}}
{{> hash_chain}}
{{#kinds}}
const {{name}} = {{kind}}u;
{{/kinds}}

// Returns the parity that tells an element from its negative. Encodings that compare sizes pass
// twice the element.
fn is_odd(a: Packed) -> bool {
{{#pairs}}
  let second = packed_second(a);
  if (!prime_packed_is_zero(second)) {
    return (second.v0.x & 1u) == 1u;
  }
{{/pairs}}
  return (a.v0.x & 1u) == 1u;
}

@compute @workgroup_size({{threads}})
fn run_program(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let thread = id.x + id.y * groups.x * {{threads}}u;
  let i = config.begin + thread;
  if (!continue_chain(thread == 0u) || i >= config.end) {
    return;
  }
  let given = points[i];
  if (point_is_infinity(given) || !packed_is_canonical(given.x) || !packed_is_canonical(given.y)) {
    return;
  }
  var registers: array<Packed, {{arrayLength}}>;
  registers[0] = given.x;
  registers[1] = given.y;
  var refused = false;
  for (var at = 0u; at < config.steps; at++) {
    let step = program[at];
    let kind = step & 15u;
    let target_register = (step >> 4u) & 63u;
    // One read per operand and one write: a chip that keeps the array in registers selects by
    // comparisons at every access.
    let first = registers[(step >> 10u) & 63u];
    // clamped, as the field of a CONSTANT is no register
    let second = registers[min((step >> 16u) & 63u, {{lastRegister}}u)];
    var result = first;
    if (kind == CONSTANT) {
      result = constants[step >> 16u];
    } else if (kind == PRODUCT || kind == SQUARES || kind == SUM || kind == DIFFERENCE) {
      let left = field_tighten(canonical_loose(field_unpack(first)));
      let right = field_tighten(canonical_loose(field_unpack(second)));
      var value = left;
      if (kind == PRODUCT || kind == SQUARES) {
        // one product for all kinds; the intermediate values of a run of squares go to no register
        for (var turn = (step >> 22u) + select(0u, 1u, kind == PRODUCT); turn > 0u; turn--) {
          var by = right;
          if (turn > 1u || kind == SQUARES) {
            by = value;
          }
          value = field_mul(field_loose(value), by);
        }
      } else if (kind == SUM) {
        value = field_tighten(field_plus(left, right));
      } else {
        value = field_tighten(field_minus(left, right));
      }
      result = field_pack(field_canonical(value));
{{#pairs}}
    } else if (kind == CONJUGATE) {
      result = packed_pair(packed_first(first), prime_packed_negated(packed_second(first), true));
{{/pairs}}
    } else if (kind == CHOOSE) {
      result = packed_negated(first, is_odd(second) != (given.y.v0.x == {{odd}}u));
    } else if (kind != MOVE) {
      let is_zero = packed_is_zero(second);
      refused |= (kind == REQUIRE_ZERO && !is_zero) || (kind == REQUIRE_OTHER && is_zero);
      if (kind != MOVE_UNLESS_ZERO || is_zero) {
        continue;
      }
    }
    registers[target_register] = result;
  }
  if (refused) {
    atomicMax(&chain[config.refused], ~(config.first + i));
    points[i] = point_infinity();
  } else if (config.writes == 1u) {
    points[i] = Point(registers[0], registers[1]);
  }
}
