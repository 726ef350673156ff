// Inversion of pairs: 1 / (c0 + c1·u) = (c0 - c1·u) / (c0² - ({{nonResidue}})·c1²), by one
// inversion in the prime field. The inverse of 0 is 0.
{{primeInverse}}

fn field_inverse(a: Words) -> Words {
  // c0² and c1², and then both times the inverse
  var result = a;
  var inverse: PrimeWords;
  for (var turn = 0u; turn < 4u + unseen_zero; turn++) {
    if (turn == 2u) {
      inverse = prime_field_inverse(prime_field_minus(result.c0, times_non_residue(result.c1)));
    }
    var left = a.c0;
    if ((turn & 1u) != 0u) {
      left = a.c1;
    }
    var right = left;
    if (turn >= 2u) {
      right = inverse;
    }
    let product = prime_field_mul(left, right);
    if ((turn & 1u) == 0u) {
      result.c0 = product;
    } else {
      result.c1 = product;
    }
  }
  return Words(result.c0, prime_field_minus(prime_zero(), result.c1));
}
