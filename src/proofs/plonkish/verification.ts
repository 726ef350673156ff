/** Verifies openings: e(left, τ·G2) = e(right, G2) for two sums of a few points. */
import type { AffinePoint, Fp2 } from '../../api/values.js';
import { resolveCurve } from '../../curves/open-curve.js';
import { invert, mod } from '../../field/modulus.js';
import { nextTurn, TimeSlice } from '../../scheduling/time-slice.js';
import type { CircuitFacts } from '../api.js';
import { areInGroup, assertKeyPoints, combine, isProductOne, openFewPoints } from '../few-points.js';
import { bytesOf } from '../witness.js';
import type { Domain } from './relations.js';
import { decodeCommitment } from './transcript.js';

/** Parts of a loaded key that a verifier uses. */
export interface VerifyingKey extends Pick<CircuitFacts, 'curve' | 'publicSignals'> {
  readonly fr: { readonly p: bigint };
  readonly domain: Pick<Domain, 'n' | 'root'>;
  readonly tau2: AffinePoint<Fp2>;
}

/** A proof that is verified. */
export interface StatementOf {
  readonly points: Readonly<Record<string, AffinePoint>>;
  /** Values of polynomials and public values; a proof with one ≥ p does not verify. */
  readonly scalars: readonly bigint[];
  readonly signals: readonly bigint[];
}

/** Computes Σ factor·point. A point that is null is the generator. */
export type Sum = (
  terms: readonly (readonly [point: AffinePoint | null | undefined, factor: bigint | undefined])[],
) => Promise<AffinePoint>;

/** Returns the value at ξ of the polynomial of the negated public values. */
export const publicValueAt = async (
  { fr: { p }, domain: { n, root } }: Pick<VerifyingKey, 'fr' | 'domain'>,
  signals: readonly bigint[],
  { xi, vanishing }: { readonly xi: bigint; readonly vanishing: bigint },
): Promise<bigint> => {
  const slice = new TimeSlice(() => undefined);
  let [sum, each] = [0n, 1n];
  for (const signal of signals) {
    // the Lagrange polynomial of the root
    const lagrange = each * mod(vanishing * invert(mod(BigInt(n) * (xi - each), p), p), p);
    sum = mod(sum - signal * mod(lagrange, p), p);
    each = (each * root) % p;
    if (slice.isOver) await slice.yield();
  }
  return sum;
};

/**
 * Returns whether a proof verifies.
 *
 * @param commitments of the key, which are checked at its first verification
 * @param computeSides sums the points for τ·G2 and for G2; null if the proof is wrong
 * @throws MsmError `aborted`; `not-on-curve` and `not-in-subgroup` for points of a damaged key
 */
export const verifyOpening = async (
  key: VerifyingKey,
  commitments: readonly Uint8Array[],
  { points, scalars, signals }: StatementOf,
  computeSides: (sum: Sum) => Promise<readonly [left: AffinePoint, right: AffinePoint] | null>,
  signal: AbortSignal | undefined,
): Promise<boolean> => {
  const { curve, fr, tau2 } = key;
  if (signals.length !== key.publicSignals) return false;
  if ([...signals, ...scalars].some((each) => each >= fr.p)) return false;
  const few = await openFewPoints(curve);
  try {
    await assertKeyPoints(key, async () => {
      (await few.few1.loadBases(commitments.map(decodeCommitment))).destroy();
      (await few.few2.loadBases([tau2], { checkSubgroup: true })).destroy();
    });
    if (!(await areInGroup(few.few1, Object.values(points)))) return false;
    await nextTurn();
    const g1 = (await resolveCurve(curve, 'g1')) as { readonly generator: Pick<AffinePoint, 'x' | 'y'> };
    const g2 = (await resolveCurve(curve, 'g2')) as { readonly generator: Pick<AffinePoint<Fp2>, 'x' | 'y'> };
    const sides = await computeSides((terms) =>
      combine(
        few.few1,
        terms.map(([point, factor]) => [
          point ?? { ...g1.generator, infinity: false },
          bytesOf(mod(factor as bigint, fr.p)),
        ]),
      ),
    );
    if (sides === null) return false;
    const [left, right] = sides;
    const pairs: readonly (readonly [AffinePoint, AffinePoint<Fp2>])[] = [
      [{ ...left, y: -left.y }, tau2],
      [right, { ...g2.generator, infinity: false }],
    ];
    return await isProductOne(curve, pairs, signal);
  } finally {
    few.few1.destroy();
    few.few2.destroy();
  }
};
