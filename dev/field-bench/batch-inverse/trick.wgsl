// The inverses of many numbers for one inversion and three products each, less three: the products of all before each, the inverse of
// the product of all, and backward from there the inverse of each (P. Montgomery 1987, "Speeding the Pollard and elliptic curve
// methods of factorization", §10.3.1). This is the part of one thread; who shares the inversion is up to `shared_inverse` of
// whoever includes this: nobody else, or columns.wgsl.
//
// 0 has no inverse, and would make that of all others 0: it counts as another number in the products, and stays 0.

const BATCH = {{size}}u;

// Canonical, as they come and as they go.
var<private> batch: array<Packed, BATCH>;
// At s the product of those before s, in the form of field_pack_any. The one at 0 would be 1, and is not used.
var<private> prefixes: array<Packed, BATCH>;

fn batch_factor(s: u32) -> Loose {
  var factor = batch[s];
  // any number would do that is not 0: it cancels
  factor.v0.x |= select(0u, 1u, packed_is_zero(factor));
  return canonical_loose(field_unpack(factor));
}

fn batch_put(s: u32, inverse: Tight) {
  if (!packed_is_zero(batch[s])) {
    batch[s] = field_pack(field_canonical(inverse));
  }
}

// The product of this thread's batch.
fn batch_product() -> Tight {
  var product = field_tighten(batch_factor(0u));
  for (var s = 1u; s < BATCH; s++) {
    prefixes[s] = field_pack_any(product);
    product = field_mul(batch_factor(s), product);
  }
  return product;
}

// Every number of the batch becomes its inverse, given that of their product.
fn batch_peel(inverse_of_product: Tight) {
  var inverse = inverse_of_product;
  for (var s = BATCH - 1u; s > 0u; s--) {
    let own = field_mul(canonical_loose(field_unpack(prefixes[s])), inverse);
    inverse = field_mul(batch_factor(s), inverse);
    batch_put(s, own);
  }
  batch_put(0u, inverse);
}
