// digest: what lies in a buffer, as one number: the sum of the digests of its items, each of which counts by its index and by all of its
// words. Taken of points as they arrived, for the host to compare with what it sent; and of resident bases, to see later whether they are what they were.
// One thread an item.
// Host: src/msm/stages/digest.ts. CPU twin: tests/reference/digest.ts.
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
