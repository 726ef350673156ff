// tables: computes for every base P the points P, 2^s·P, 2^2s·P …, once, when bases are loaded (Lim
// and Lee 1994). Table t of base i is at index i·tables + t of the resident buffer, in Montgomery
// form as the import leaves points; infinity is all zeros. Two kernels:
//   tables_spread  moves imported points, which are contiguous, to their places as table 0,
//   tables_double  doubles one table a number of times, into another table or in place; the host
//     cuts s into dispatches of bounded length.
// Doublings are in modified Jacobian coordinates (Cohen, Miyaji, Ono 1998): (X : Y : Z) with x =
// X/Z², y = Y/Z³, and a·Z⁴ beside them where a is not 0. These have no exceptional case. Z = 0 is
// infinity; doubling leads there from Y = 0, which points of order 2 and stored infinity have; and
// as the inverse of 0 is 0, infinity is stored as zeros again. They need one inversion per point at
// the end, where affine doublings would need three more products each, a share of an inversion, and
// memory for many points at a time.
// Host: src/msm/stages/tables.ts. CPU reference: tests/reference/tables.ts.
{{structs}}
{{> field}}
{{#double}}
{{> inverse}}
const MATRICES = {{matrices}}u;
{{/double}}
{{> point}}
{{> hash_chain}}

{{bindings}}
{{#spread}}

@compute @workgroup_size({{threads}})
fn tables_spread(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.x + id.y * groups.x * {{threads}}u;
  if (continue_chain(i == 0u) && i < config.points) {
    tables[i * config.tables] = points[i];
  }
}
{{/spread}}
{{#double}}

@compute @workgroup_size({{threads}})
fn tables_double(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.x + id.y * groups.x * {{threads}}u;
  if (!continue_chain(i == 0u) || i >= config.points) {
    return;
  }
  unseen_zero = config.points >> 31u;
  let point = tables[i * config.tables + config.from_table];
  var x = field_tighten(canonical_loose(field_unpack(point.x)));
  var y = field_tighten(canonical_loose(field_unpack(point.y)));
  var z = field_one();
  var az4 = Tight({{aLimbs}});
  // One product in a loop, because the instruction cache of a GPU has no room for more: x², y²,
  // (2·y²)², 2x·2y², 2y·z, m² and so x, m·(s - x) and so y, and where a is not 0 a·z⁴.
  for (var step = 0u; step < config.doublings; step++) {
    var m = x;
    var yy2 = y;
    var y8 = y;
    var s = x;
    for (var i = 0u; i < {{#hasA}}8u{{/hasA}}{{^hasA}}7u{{/hasA}} + unseen_zero; i++) {
      var left = field_loose(x);
      var right = x;
      if (i == 1u) {
        left = field_loose(y);
        right = y;
      } else if (i == 2u) {
        left = field_plus(y, y);
        right = z;
      } else if (i == 3u) {
        left = field_plus(x, x);
        right = yy2;
      } else if (i == 4u) {
        left = field_loose(yy2);
        right = yy2;
      } else if (i == 5u) {
        left = field_loose(m);
        right = m;
      } else if (i == 6u) {
        left = field_minus(s, x);
        right = m;
{{#hasA}}
      } else if (i == 7u) {
        left = field_plus(y8, y8);
        right = az4;
{{/hasA}}
      }
      let product = field_mul(left, right);
      if (i == 0u) {
        m = field_triple_plus(product, az4);
      } else if (i == 1u) {
        yy2 = field_tighten(field_plus(product, product));
      } else if (i == 2u) {
        z = product;
      } else if (i == 3u) {
        s = product;
      } else if (i == 4u) {
        y8 = field_tighten(field_plus(product, product));
      } else if (i == 5u) {
        x = field_minus_twice(product, s);
      } else if (i == 6u) {
        y = field_tighten(field_minus(product, y8));
{{#hasA}}
      } else {
        az4 = product;
{{/hasA}}
      }
    }
  }
  // y/z³, then x/z²; one product in a loop, because this runs once
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
