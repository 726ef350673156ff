// normalize: converts the last sums of a reduction from extended to affine coordinates, for the
// host: x = X/ZZ and y = Y/ZZZ, with 1/ZZ = (ZZ/ZZZ)². A thread converts one sum, because there are
// a few hundred. As the inverse of 0 is 0, infinity becomes (0, 0).
//
// The digest covers the indices and the words of the points. It is computed from the thread's own
// copy, so that it covers the write too.
// Host: src/msm/stages/normalize.ts. CPU reference: tests/reference/normalize.ts.
{{structs}}
{{> field}}
{{> inverse}}
const MATRICES = {{batches}}u;
{{> point}}
{{> extended}}
{{> hash_chain}}

{{bindings}}

fn digest_of_words(before: u32, words: vec4<u32>) -> u32 {
  return absorb(absorb(absorb(absorb(before, words.x), words.y), words.z), words.w);
}

@compute @workgroup_size({{threads}})
fn normalize(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.x + id.y * groups.x * {{threads}}u;
  if (!continue_chain(i == 0u) || i >= config.sums) {
    return;
  }
  unseen_zero = config.sums >> 31u;
  let sum = extended[i];
  let inverse = field_inverse(field_tighten(canonical_loose(field_unpack(sum.zzz))));
  var x = field_tighten(canonical_loose(field_unpack(sum.x)));
  var y = field_tighten(canonical_loose(field_unpack(sum.y)));
  // ZZ/ZZZ, its square, x and y; one product in a loop, because this runs once
  var factor = field_tighten(canonical_loose(field_unpack(sum.zz)));
  for (var step = 0u; step < 4u + unseen_zero; step++) {
    var left = factor;
    var right = factor;
    if (step == 0u) {
      right = inverse;
    } else if (step == 2u) {
      right = x;
    } else if (step == 3u) {
      left = inverse;
      right = y;
    }
    let product = field_mul(field_loose(left), right);
    if (step < 2u) {
      factor = product;
    } else if (step == 2u) {
      x = product;
    } else {
      y = product;
    }
  }
  let point = Point(field_pack(field_canonical(x)), field_pack(field_canonical(y)));
  sums[i] = point;
  var digest = i;
{{#vectors}}
  digest = digest_of_words(digest, point.x.v{{i}});
{{/vectors}}
{{#vectors}}
  digest = digest_of_words(digest, point.y.v{{i}});
{{/vectors}}
  atomicAdd(&chain[config.read_back], digest);
}
