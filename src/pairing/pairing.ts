/** Products of pairings, with which proofs are verified. Loaded by the first verification. */
import type { AffinePoint, Fp2 } from '../api/values.js';
// From the entry, so that the build leaves in index.js what the two share.
import { MsmError } from '../index.js';
import { TimeSlice } from '../scheduling/time-slice.js';
import { conjugate, type Fp12 } from './extension.js';
import { finalExponentiation } from './final-exponentiation.js';
import { millerLoop } from './miller-loop.js';
import { type PairingCurveName, pairingCurve } from './pairing-curves.js';

/** A point of G1 and one of G2, both in the group of order r. */
export type PointPair = readonly [AffinePoint, AffinePoint<Fp2>];

/**
 * Returns the product of the pairings of some pairs, with one final exponentiation for all. Lets
 * the event loop run every 8 ms.
 *
 * @throws MsmError `aborted` by the signal
 */
export const pairingProduct = async (
  name: PairingCurveName,
  pairs: readonly PointPair[],
  signal: AbortSignal | undefined,
): Promise<Fp12> => {
  const curve = pairingCurve(name);
  const slice = new TimeSlice(() => {
    if (signal?.aborted) throw new MsmError('aborted', 'the verification was aborted', { cause: signal.reason });
  });
  const finite = pairs.filter(([p, q]) => !p.infinity && !q.infinity).map(([p, q]) => ({ p, q }));
  const value = await millerLoop(curve, finite, slice);
  const paired = await finalExponentiation(curve, value, slice);
  // the loop goes through |x|, and the value for −x is the inverse
  return curve.family === 'bls12' && curve.seed < 0n ? conjugate(paired) : paired;
};

/** Returns whether the product of some pairings is 1. @throws MsmError `aborted` by the signal */
export const isProductOne = async (...given: Parameters<typeof pairingProduct>): Promise<boolean> =>
  pairingCurve(given[0]).field.isOne(await pairingProduct(...given));
