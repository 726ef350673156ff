// The threads of a workgroup share {{roots}} inversions. Their products form rows of ROOTS, and
// ROOTS threads apply the trick again, each over its column in sequence. If ROOTS lanes run in
// lockstep, as a subgroup does, their inversions take no longer than one, and the products no
// longer than if all lanes shared them: no lane of this subgroup waits, and other subgroups have no
// other work. A tree would have levels with fewer nodes than lanes, and a barrier for each level.
//
// Correct for every ROOTS that divides THREADS. All threads must call it together.

const THREADS = {{threads}}u;
const ROOTS = {{roots}}u;
const COLUMN = THREADS / ROOTS;

// Product of each thread, later its inverse.
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
