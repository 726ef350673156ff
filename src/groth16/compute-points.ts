/**
 * The three points of a proof: Groth 2016 (https://eprint.iacr.org/2016/260), section 3.2. Its part
 * r·(ΣB + β + s·δ) − r·s·δ of π_C is r·(ΣB + β).
 */
import type { AffinePoint, Fp2 } from '../api/values.js';
import type { ProofRun } from '../proofs/circuit-prover.js';
import { combine, ONE } from '../proofs/combine.js';
import type { LoadedKey } from './loaded-key.js';
import { settleAll } from './settle-all.js';
import { Sums } from './sums.js';
import type { ProofPoints } from './write-proof.js';

/** Secrets of a proof: r and s, which blind it. */
export interface Blinding {
  readonly r: Uint8Array<ArrayBuffer>;
  readonly s: Uint8Array<ArrayBuffer>;
}

/**
 * Computes the points of a proof. The factors of few points are multiplied while the sums of many
 * are computed.
 *
 * @param values the witness, which this function takes over
 */
export const computePoints = async (
  key: LoadedKey,
  values: Uint8Array<ArrayBuffer>,
  { r, s }: Blinding,
  run: ProofRun,
): Promise<ProofPoints> => {
  const { points, engines } = key;
  const { few1, few2 } = engines;
  const sums = new Sums(key, values, run);
  const ofA = async (): Promise<AffinePoint> =>
    combine(few1, [
      [await sums.a(), ONE],
      [points.alpha1, ONE],
      [points.delta1, r],
    ]);
  const ofB = async (): Promise<AffinePoint<Fp2>> =>
    combine(few2, [
      [await sums.b2(), ONE],
      [points.beta2, ONE],
      [points.delta2, s],
    ]);
  const [a, b1] = [ofA(), sums.b1()];
  const ofBlinding = async (): Promise<AffinePoint> =>
    combine(few1, [
      [await a, s],
      [await b1, r],
      [points.beta1, r],
    ]);
  try {
    const parts = [a, b1, ofB(), ofBlinding(), sums.c(), sums.h] as const;
    const [pointA, , pointB, blinded, sumC, sumH] = await settleAll(parts, () => run.ending.abort());
    const added = [blinded, sumH, ...(sumC === null ? [] : [sumC])];
    const pointC = await combine(
      few1,
      added.map((each) => [each, ONE] as const),
    );
    return { a: pointA, b: pointB, c: pointC };
  } finally {
    sums.destroy();
  }
};
