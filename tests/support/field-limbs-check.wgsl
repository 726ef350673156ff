// Takes limbs as they are, which packed elements never have at their extremes.
{{> field}}

@group(0) @binding(0) var<storage, read> left: array<u32>;
@group(0) @binding(1) var<storage, read> right: array<u32>;
@group(0) @binding(2) var<storage, read_write> result: array<Packed>;

@compute @workgroup_size(64)
fn {{operation}}(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= arrayLength(&result)) {
    return;
  }
  let first = id.x * {{limbCount}}u;
  let loose = Loose({{#limbs}}left[first + {{i}}u], {{/limbs}});
  let tight = Tight({{#limbs}}right[first + {{i}}u], {{/limbs}});
  result[id.x] = field_pack(field_canonical({{expression}}));
}
