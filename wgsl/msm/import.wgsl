// import: converts public bytes to resident bases, in place. One thread per point.
//
// A point arrives as x then y, each as the little-endian words of a number, and leaves in
// Montgomery form (Montgomery 1985). The input may be in a Montgomery form of another radix;
// `entry` in the config is the factor that brings it into ours. Infinity is all zeros in both
// forms. Two accounts receive the smallest index of a point with a coordinate >= p, and the
// smallest index of a point off the curve, each as 0xffffffff minus the index, or 0 if there is
// none. Such points become infinity.
// Host: src/msm/stages/import.ts. CPU reference: tests/reference/import.ts.
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
  // One product in a loop instead of five in a row, because compilers inline every call and this
  // code runs once. The number of turns is hidden from compilers, as some would unroll the loop.
  // The branches are a chain of ifs, which all compilers translate alike. Only `carried` is kept
  // from one turn to the next; the coordinates stay in `points`, in Montgomery form from their turn
  // on.
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
    } else { // y²: the two numbers are within p and 2p of 0
      equation = packed_is_zero(field_pack(field_canonical(field_tighten(field_minus(product, carried)))));
    }
  }
  if (!equation) {
    atomicMax(&chain[config.rejects + 1u], ~(config.first + i));
    points[i] = point_infinity();
  }
}
