// scalars: converts elements of a vector to scalars of a sum, below the prime, and adds up their
// digests. The digest of a scalar, with its index and its base, is that of decompose
// (wgsl/msm/decompose.wgsl), which has to read the same scalars: the host does not have them, so it
// cannot compute their digest. One thread for each scalar.
// Host: src/fields/gpu/scalars.ts. CPU reference: tests/reference/scalars.ts.
{{structs}}
{{> field}}
{{> element}}

{{bindings}}
{{> hash_chain}}

const SCALAR_WORDS = {{scalarWords}}u;

@compute @workgroup_size({{threads}})
fn scalars(
  @builtin(global_invocation_id) id: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
) {
  let i = id.x + id.y * groups.x * {{threads}}u;
  if (!continue_chain(i == 0u) || i >= config.length) {
    return;
  }
  let factor = Packed({{#factor}}vec4<u32>({{vector}}), {{/factor}});
  let number = field_mul(field_loose(element(a[config.first + i])), element(factor));
  let packed = field_pack(field_canonical(number));
  let at = (config.first_out + i) * SCALAR_WORDS;
  var digest =
    config.vector * weight(SCALAR_WORDS) + i * weight(SCALAR_WORDS + 1u) + (config.first_base + i) * weight(SCALAR_WORDS + 2u);
{{#parts}}
  out[at + {{w}}u] = {{word}};
  digest += {{word}} * weight({{w}}u);
{{/parts}}
  add_to_account(config.account, i, mix(digest));
}
