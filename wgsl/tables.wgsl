// tables: for every base P the points P, 2^s·P, 2^2s·P …, made once when bases are loaded. Table t of base i lies at i·tables + t of the
// resident buffer, in Montgomery form as the import leaves points; infinity is all zeros. Two kernels:
//   tables_spread  moves imported points, which lie one behind the other, to their places as table 0,
//   tables_double  doubles one table so many times, into another one or in place; the host cuts s into dispatches that are not too long.
// Doublings are in modified Jacobian coordinates (Cohen, Miyaji, Ono 1998): (X : Y : Z) with x = X/Z², y = Y/Z³, and a·Z⁴ beside them
// where a is not 0. They have no exceptional case: Z = 0 is infinity, doubling takes Y = 0 there, which points of order 2 have and infinity
// as it is stored, and the inverse of 0 being 0 brings it back to zeros. And they need no inversion but one a point at the end, where
// an affine doubling pays three products and its share of an inversion, and what many points at a time cost in memory.
// Host: src/stages/tables.ts. CPU twin: src/twins/tables.ts.
{{structs}}
{{> field}}
{{#double}}
{{> inverse}}
{{/double}}
{{> point}}

{{bindings}}
{{#spread}}

@compute @workgroup_size({{threads}})
fn tables_spread(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.x + id.y * groups.x * {{threads}}u;
  if (i < config.points) {
    tables[i * config.tables] = points[i];
  }
}
{{/spread}}
{{#double}}

@compute @workgroup_size({{threads}})
fn tables_double(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.x + id.y * groups.x * {{threads}}u;
  if (i >= config.points) {
    return;
  }
  let point = tables[i * config.tables + config.from_table];
  var x = field_tighten(canonical_loose(field_unpack(point.x)));
  var y = field_tighten(canonical_loose(field_unpack(point.y)));
  var z = field_one();
{{#hasA}}
  var az4 = Tight({{aLimbs}});
{{/hasA}}
  // The products stand in a row: in a loop around one of them they compile faster and run half as fast (docs/performance.md). They are
  // within p of 0, and x and y within 3p, as a Tight has to be.
  for (var step = 0u; step < config.doublings; step++) {
    let xx = field_square(x);
    let yy = field_square(y);
    // 2·y²
    let yy2 = field_tighten(field_plus(yy, yy));
    // 4·x·y²
    let s = field_mul(field_plus(x, x), yy2);
    // 4·y⁴, 8·y⁴
    let y4 = field_square(yy2);
    let y8 = field_tighten(field_plus(y4, y4));
    let next_z = field_mul(field_plus(y, y), z);
    // 3·x² + a·z⁴, within 4p: a little more than a Tight may be, but its products with what is within 4p come to 16·p² and may to 18·p²
    let m = field_tighten(Loose(
{{#limbs}}
      3u * xx.l{{i}}{{#hasA}} + az4.l{{i}}{{/hasA}},
{{/limbs}}
    ));
    let mm = field_square(m);
    x = field_tighten(Loose(
{{#limbs}}
      mm.l{{i}} - 2u * s.l{{i}},
{{/limbs}}
    ));
    y = field_tighten(field_minus(field_mul(field_minus(s, x), m), y8));
    z = next_z;
{{#hasA}}
    // a·(2·y·z)⁴ = 16·y⁴·(a·z⁴)
    az4 = field_mul(field_plus(y8, y8), az4);
{{/hasA}}
  }
  // y/z³, then x/z²; one product in a loop, as this is done once
  unseen_zero = config.points >> 31u;
  let inverse = field_loose(field_inverse(z));
  var product = y;
  for (var step = 0u; step < 5u + unseen_zero; step++) {
    product = field_mul(inverse, product);
    if (step == 2u) {
      y = product;
      product = x;
    }
  }
  tables[i * config.tables + config.to_table] = Point(field_pack(field_canonical(product)), field_pack(field_canonical(y)));
}
{{/double}}
