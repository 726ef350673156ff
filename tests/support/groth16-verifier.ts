/** A verifier of Groth16 by noble's pairings: e(A, B) = e(α, β)·e(IC, γ)·e(C, δ). */
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { bn254 } from '@noble/curves/bn254.js';
import type { Groth16Proof } from '../../src/groth16.js';

const curves = { bn128: bn254, bls12381: bls12_381 };

/** A verification key of snarkjs. */
interface VerificationKey {
  readonly vk_alpha_1: string[];
  readonly vk_beta_2: string[][];
  readonly vk_gamma_2: string[][];
  readonly vk_delta_2: string[][];
  readonly IC: string[][];
}

export const verifiesByNoble = (given: unknown, signals: readonly string[], proof: Groth16Proof): boolean => {
  const key = given as VerificationKey;
  const curve = curves[proof.curve];
  const { Fp2 } = curve.fields;
  const g1 = ([x, y]: readonly string[]) =>
    curve.G1.Point.fromAffine({ x: BigInt(x as string), y: BigInt(y as string) });
  const pair = ([c0, c1]: readonly string[]) => Fp2.fromBigTuple([BigInt(c0 as string), BigInt(c1 as string)]);
  const g2 = ([x, y]: readonly string[][]) =>
    curve.G2.Point.fromAffine({ x: pair(x as string[]), y: pair(y as string[]) });
  const points = [g1(proof.pi_a), g1(proof.pi_c)];
  for (const point of points) point.assertValidity();
  g2(proof.pi_b).assertValidity();
  const [first, ...others] = key.IC.map(g1);
  if (first === undefined || others.length !== signals.length) return false;
  const ic = others.reduce((sum, point, i) => {
    const signal = BigInt(signals[i] as string);
    return signal === 0n ? sum : sum.add(point.multiply(signal));
  }, first);
  const product = curve.pairingBatch([
    { g1: g1(proof.pi_a).negate(), g2: g2(proof.pi_b) },
    { g1: g1(key.vk_alpha_1), g2: g2(key.vk_beta_2) },
    { g1: ic, g2: g2(key.vk_gamma_2) },
    { g1: g1(proof.pi_c), g2: g2(key.vk_delta_2) },
  ]);
  return curve.fields.Fp12.eql(product, curve.fields.Fp12.ONE);
};
