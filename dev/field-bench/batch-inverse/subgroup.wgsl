// The lanes of a subgroup share an inversion: every lane gets the product of all others by a butterfly, in twice as many products as the
// size has bits, and all invert the same number. That only one of them does would not be faster, as the others would wait.
//
// Lanes meet in the butterfly if those present are the first, and as many as the subgroup or the workgroup has, as on the devices that
// we know. WGSL promises it nowhere (a workgroup may fill its subgroups unevenly): where it is not so, every lane inverts its own.

fn lanes_across(a: Tight, distance: u32) -> Tight {
  return Tight(
{{#limbs}}
    subgroupShuffleXor(a.l{{i}}, distance),
{{/limbs}}
  );
}

fn shared_inverse(own: Tight, lane: u32, size: u32) -> Tight {
  // The compiler takes what subgroupAdd comes to for different in every lane, and loops with shuffles must not end by that.
  let lanes = min(size, {{threads}}u);
  let meet = subgroupAdd(1u) == lanes && subgroupMax(lane) == lanes - 1u;
  var all = own;
  var others = field_one();
  for (var distance = 1u; distance < lanes; distance *= 2u) {
    var partner = lanes_across(all, distance);
    if (!meet) {
      partner = field_one();
    }
    others = field_mul(field_loose(partner), others);
    all = field_mul(field_loose(partner), all);
  }
  return field_mul(field_loose(others), field_inverse(all));
}
