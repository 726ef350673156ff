/** The three points of a proof: Groth 2016 (https://eprint.iacr.org/2016/260), section 3.2. */
import type { AffinePoint, Fp2 } from '../api/values.js';
import { combine, ONE, type Term } from '../proofs/combine.js';
import type { LoadedKey } from './loaded-key.js';
import type { Blinding } from './quotient.js';
import type { ProofPoints } from './write-proof.js';

/** Sums over the sections of a key. */
export interface Sums {
  readonly a: AffinePoint;
  readonly b1: AffinePoint;
  readonly b2: AffinePoint<Fp2>;
  /** null if the circuit has no private variables. */
  readonly c: AffinePoint | null;
  readonly h: AffinePoint;
}

/** @param minusRS −r·s */
export const assemble = async (
  { points, engines: { few1, few2 } }: LoadedKey,
  sums: Sums,
  { r, s }: Blinding,
  minusRS: Uint8Array,
): Promise<ProofPoints> => {
  const { alpha1, beta1, beta2, delta1, delta2 } = points;
  const blinded = (sum: AffinePoint, fixed: AffinePoint, factor: Uint8Array) =>
    combine(few1, [
      [sum, ONE],
      [fixed, ONE],
      [delta1, factor],
    ]);
  const a = await blinded(sums.a, alpha1, r);
  const b1 = await blinded(sums.b1, beta1, s);
  const b = await combine(few2, [
    [sums.b2, ONE],
    [beta2, ONE],
    [delta2, s],
  ]);
  const privatePart: readonly Term<bigint>[] = sums.c === null ? [] : [[sums.c, ONE]];
  const c = await combine(few1, [...privatePart, [sums.h, ONE], [a, s], [b1, r], [delta1, minusRS]]);
  return { a, b, c };
};
