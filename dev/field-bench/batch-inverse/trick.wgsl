// Inverts many numbers with one inversion and three products each, less three: the products of all
// numbers before each, the inverse of the product of all, and backwards the inverse of each (P.
// Montgomery 1987, "Speeding the Pollard and elliptic curve methods of factorization", §10.3.1).
// This is the part of one thread. The includer provides `shared_inverse`: an own inversion, or
// columns.wgsl.
//
// 0 has no inverse, and would make all other inverses 0. It counts as another number in the
// products, and stays 0.

const BATCH = {{size}}u;

// Canonical numbers, on input and output.
var<private> batch: array<Packed, BATCH>;
// prefixes[s] is the product of the numbers before s, in the form of field_pack_any; prefixes[0]
// would be 1, and is unused.
var<private> prefixes: array<Packed, BATCH>;

fn batch_factor(s: u32) -> Loose {
  var factor = batch[s];
  // replaces 0 by any other number, which cancels
  factor.v0.x |= select(0u, 1u, packed_is_zero(factor));
  return canonical_loose(field_unpack(factor));
}

fn batch_put(s: u32, inverse: Tight) {
  if (!packed_is_zero(batch[s])) {
    batch[s] = field_pack(field_canonical(inverse));
  }
}

// Returns the product of this thread's batch.
fn batch_product() -> Tight {
  var product = field_tighten(batch_factor(0u));
  for (var s = 1u; s < BATCH; s++) {
    prefixes[s] = field_pack_any(product);
    product = field_mul(batch_factor(s), product);
  }
  return product;
}

// Replaces every number of the batch by its inverse, given the inverse of their product.
fn batch_peel(inverse_of_product: Tight) {
  var inverse = inverse_of_product;
  for (var s = BATCH - 1u; s > 0u; s--) {
    let own = field_mul(canonical_loose(field_unpack(prefixes[s])), inverse);
    inverse = field_mul(batch_factor(s), inverse);
    batch_put(s, own);
  }
  batch_put(0u, inverse);
}
