/**
 * Verifies proofs: e(A, B) = e(α, β)·e(Σ xᵢ·ICᵢ, γ)·e(C, δ). Source: Groth 2016
 * (https://eprint.iacr.org/2016/260), section 3.2.
 */
import type { AffinePoint, Fp2 } from '../api/values.js';
import { handOver } from '../engine/arguments.js';
import { areInGroup, assertKeyPoints, type FewPoints, isProductOne, ONE } from '../proofs/few-points.js';
import { inNumbers, inPairs, readJsonPoint, readProofObject, readPublicSignals } from '../proofs/snarkjs-json.js';
import { bytesOf, SCALAR_BYTES } from '../proofs/witness.js';
import type { ProofPoints } from './api.js';
import type { HeaderPoints, LoadedKey } from './prove.js';

/** Parts of a loaded key that a verifier uses. */
export interface VerifyingKey extends Pick<LoadedKey, 'curve' | 'publicSignals' | 'order' | 'ic'> {
  readonly engines: FewPoints;
  readonly points: Pick<HeaderPoints, 'alpha1' | 'beta2' | 'gamma2' | 'delta2'>;
}

/** Reads the points of a proof. @throws MsmError `bad-argument` naming the number */
const readProof = (proof: unknown): ProofPoints => {
  const { pi_a, pi_b, pi_c } = readProofObject(proof, 'groth16');
  return {
    a: readJsonPoint('proof.pi_a', pi_a, inNumbers),
    b: readJsonPoint('proof.pi_b', pi_b, inPairs),
    c: readJsonPoint('proof.pi_c', pi_c, inNumbers),
  };
};

/** Computes IC₀ plus the public values times the other points. */
const sumOfInputs = async (
  { engines: { few1 }, ic }: VerifyingKey,
  signals: readonly bigint[],
  signal: AbortSignal | undefined,
): Promise<AffinePoint> => {
  const factors = new Uint8Array((signals.length + 1) * SCALAR_BYTES);
  for (const [i, factor] of [ONE, ...signals.map(bytesOf)].entries()) factors.set(factor, i * SCALAR_BYTES);
  return few1.msm(ic, handOver(factors), signal && { signal });
};

/**
 * Returns whether a proof verifies. One of another curve, or with a number that is not below its
 * prime, does not.
 *
 * @throws MsmError `bad-argument` if it is no proof; `aborted`, `destroyed`; `not-in-subgroup` for
 *   points of a damaged key
 */
export const verify = async (
  key: VerifyingKey,
  proof: unknown,
  publicSignals: unknown,
  signal: AbortSignal | undefined,
): Promise<boolean> => {
  const { curve, points, engines } = key;
  const { few1, few2 } = engines;
  const { a, b, c } = readProof(proof);
  const signals = readPublicSignals(publicSignals);
  if (signals.length !== key.publicSignals || signals.some((each) => each >= key.order)) return false;
  const { alpha1, beta2, gamma2, delta2 } = points;
  await assertKeyPoints(key, async () => {
    (await few1.loadBases([alpha1], { checkSubgroup: true })).destroy();
    (await few2.loadBases([beta2, gamma2, delta2], { checkSubgroup: true })).destroy();
  });
  if (!(await areInGroup(few1, [a, c])) || !(await areInGroup(few2, [b]))) return false;
  const inputs = await sumOfInputs(key, signals, signal);
  const pairs: readonly (readonly [AffinePoint, AffinePoint<Fp2>])[] = [
    [{ ...a, y: -a.y }, b],
    [alpha1, beta2],
    [inputs, gamma2],
    [c, delta2],
  ];
  return isProductOne(curve, pairs, signal);
};
