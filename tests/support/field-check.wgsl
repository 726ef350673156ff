// Applies one operation of the field layer to every pair of elements: for the tests of the field
// layer, and no part of an MSM.
{{> field}}
{{> inverse}}
const MATRICES = {{batches}}u;

@group(0) @binding(0) var<storage, read> left: array<Packed>;
@group(0) @binding(1) var<storage, read> right: array<Packed>;
@group(0) @binding(2) var<storage, read_write> result: array<Packed>;

@compute @workgroup_size(64)
fn {{operation}}(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= arrayLength(&result)) {
    return;
  }
  let a = field_unpack(left[id.x]);
  let b = field_unpack(right[id.x]);
  let loose = canonical_loose(a);
  let tight = field_tighten(canonical_loose(b));
  result[id.x] = field_pack({{expression}});
}
