// digest: hashes the contents of a buffer to one word, the sum of the digests of its items. The
// digest of an item depends on its index and all of its words. The host compares the digest of
// uploaded points with its own, and that of resident bases with an earlier one. One thread per
// item.
// Host: src/msm/stages/entry.ts. CPU reference: tests/reference/digest.ts.
{{structs}}
{{bindings}}
{{> hash_chain}}

@compute @workgroup_size({{threads}})
fn digest(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.x + id.y * groups.x * {{threads}}u;
  if (!continue_chain(i == 0u) || i >= config.items) {
    return;
  }
  var sum = 0u;
  for (var w = 0u; w < config.item_words; w++) {
    sum += words[i * config.item_words + w] * weight(w);
  }
  add_to_account(config.account, i, digest_of(i, sum));
}
