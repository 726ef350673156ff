import { digitsOf, type Modulus, mod } from './modulus.js';

/**
 * The constants of the field inversion, which runs Bernstein–Yang division steps ("Fast constant-time gcd computation and
 * modular inversion", TCHES 2019/3) in the half-delta variant, in batches.
 *
 * One batch does BATCH divsteps on the lowest limbs of f and g alone, gathers them in a 2×2 matrix with entries in
 * (−2^15, 2^15] and rows |u| + |v| ≤ 2^15, and then applies the matrix to f, g (exact shift by one limb) and to d, e (shift
 * modulo p). With limbs as wide as a batch the shift drops a limb and moves no bits.
 *
 * Bounds. To clear its low limb, t = u·d + v·e gets m·p added with |m| < 2^15 and m of the sign opposite to t's, so that
 * |t + m·p| ≤ max(|t|, |m|·p): |d| and |e| never exceed p. The sign of t is read off the top 16 bits of d and e; where that
 * reading is wrong |t| < 2^15 · 2^(bits−16) ≤ p, and (p + (2^15 − 1)·p) / 2^15 = p still.
 * 15 is the widest batch: a limb of t + m·p is at most 2·(2^15 − 1)·2^15 plus a carry of 2^16, just inside an i32.
 */
export const BATCH = 15;
export const BATCH_MASK = (1 << BATCH) - 1;

export interface DivstepConstants {
  /** Limbs of BATCH bits for f, g, d, e. The top one is signed. */
  readonly limbs: number;
  /** Batches after which g = 0 for every input. */
  readonly batches: number;
  readonly p: readonly number[];
  /** R² mod p: e starts here instead of at 1, so that the inverse of a·R comes out as a⁻¹·R. */
  readonly start: readonly number[];
  /** p⁻¹ mod 2^BATCH. */
  readonly pInverse: number;
  /** Where the 16 top bits start, whose sign decides the sign of m. */
  readonly topBit: number;
}

export const divstepConstants = (m: Modulus): DivstepConstants => {
  const limbs = Math.ceil((m.bits + 1) / BATCH);
  // Divsteps that suffice for inputs of b bits with delta starting at 1/2: floor((45907·b + 26313) / 19929), b ≥ 46
  // (P. Wuille, "Bounds on divsteps iterations in safegcd", github.com/sipa/safegcd-bounds).
  const divsteps = Math.floor((45907 * m.bits + 26313) / 19929);
  const one = 1n << BigInt(BATCH);
  let inverse = 1n;
  for (let i = 0; i < 4; i++) inverse = mod(inverse * (2n - m.p * inverse), one);
  return {
    limbs,
    batches: Math.ceil(divsteps / BATCH),
    p: digitsOf(m.p, BATCH, limbs),
    start: digitsOf(m.r2, BATCH, limbs),
    pInverse: Number(inverse),
    topBit: m.bits - 16,
  };
};
