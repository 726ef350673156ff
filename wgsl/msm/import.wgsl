// import: public bytes to resident bases, in place. One thread a point.
//
// A point comes as x then y, each as little-endian words of a canonical number, and leaves in Montgomery form; what comes may be in a Montgomery form
// of another radix, and `entry` in the config is what brings it into ours. Infinity is all zeros on both sides. The smallest index of a point with a coordinate >= p, and the smallest index of a point off the curve, are left
// in two accounts, as ALL ONES less the index: 0 where there is none. Such points are left as infinity.
// Host: src/msm/stages/import.ts. CPU twin: tests/reference/import.ts.
{{structs}}
{{> field}}
{{> point}}

{{bindings}}
{{> hash_chain}}

@compute @workgroup_size({{threads}})
fn import_points(
  @builtin(global_invocation_id) id: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let i = id.x + id.y * groups.x * {{threads}}u;
  if (!continue_chain(i == 0u) || i >= config.points) {
    return;
  }
  let raw = points[i];
  if (point_is_infinity(raw)) {
    return;
  }
  if (!packed_is_canonical(raw.x) || !packed_is_canonical(raw.y)) {
    atomicMax(&chain[config.rejects], ~(config.first + i));
    points[i] = point_infinity();
    return;
  }
  // One product in a loop rather than five in a row: compilers inline every call, and this runs once. They do not see that there are five
  // turns, or some would unroll them; and a chain of ifs is what all of them translate alike. From one turn to the next only `carried` is
  // held; the coordinates wait in their own place, in Montgomery form from their turn on.
  let entry = Packed({{#entry}}vec4<u32>({{vector}}), {{/entry}});
  var carried = field_tighten(canonical_loose(field_unpack(entry)));
  var equation = true;
  let steps = 5u + (config.points >> 31u);
  for (var step = 0u; step < steps; step++) {
    let in_y = step == 1u || step == 4u;
    var packed = points[i].x;
    if (in_y) {
      packed = points[i].y;
    }
    let own = canonical_loose(field_unpack(packed));
    var other = carried;
    if (step == 2u || step == 4u) {
      other = field_tighten(own);
    }
    let product = field_mul(own, other);
    if (step == 0u) { // x in Montgomery form
      points[i].x = field_pack(field_canonical(product));
    } else if (step == 1u) { // y in Montgomery form
      points[i].y = field_pack(field_canonical(product));
    } else if (step == 2u) { // x²
      carried = field_tighten(field_plus(product, Tight({{aLimbs}})));
    } else if (step == 3u) { // x·(x² + a)
      carried = field_tighten(field_plus(product, Tight({{bLimbs}})));
    } else { // y²: two numbers within p and 2p of 0
      equation = packed_is_zero(field_pack(field_canonical(field_tighten(field_minus(product, carried)))));
    }
  }
  if (!equation) {
    atomicMax(&chain[config.rejects + 1u], ~(config.first + i));
    points[i] = point_infinity();
  }
}
