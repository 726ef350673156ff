// The threads of a workgroup share {{roots}} of their inversions. Their products stand in rows of ROOTS, and ROOTS threads do the trick
// once more, each over its column, one after the other. Where ROOTS lanes compute in lockstep, as a subgroup does, their inversions take
// no longer than one, and the products no longer than if all lanes had shared them: no lane of this subgroup waits, and the other
// subgroups have nothing to do that could be theirs. A tree has levels with fewer nodes than lanes, and a barrier for each.
//
// Right for every ROOTS that divides THREADS. It must be called by all threads together.

const THREADS = {{threads}}u;
const ROOTS = {{roots}}u;
const COLUMN = THREADS / ROOTS;

// The product of each thread, and then its inverse.
var<workgroup> products: array<Packed, THREADS>;
var<private> column_prefixes: array<Packed, COLUMN>;

fn packed_factor(a: Packed) -> Loose {
  return canonical_loose(field_unpack(a));
}

fn invert_column(root: u32) {
  var product = field_tighten(packed_factor(products[root]));
  for (var s = 1u; s < COLUMN; s++) {
    column_prefixes[s] = field_pack_any(product);
    product = field_mul(packed_factor(products[s * ROOTS + root]), product);
  }
  var inverse = field_inverse(product);
  for (var s = COLUMN - 1u; s > 0u; s--) {
    let own = field_mul(packed_factor(column_prefixes[s]), inverse);
    inverse = field_mul(packed_factor(products[s * ROOTS + root]), inverse);
    products[s * ROOTS + root] = field_pack_any(own);
  }
  products[root] = field_pack_any(inverse);
}

fn shared_inverse(own: Tight, thread: u32) -> Tight {
  products[thread] = field_pack_any(own);
  workgroupBarrier();
  if (thread < ROOTS) {
    invert_column(thread);
  }
  workgroupBarrier();
  return field_tighten(packed_factor(products[thread]));
}
