/** A verifier of Groth16 by noble's pairings: e(A, B) = e(α, β)·e(IC, γ)·e(C, δ). */
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { bn254 } from '@noble/curves/bn254.js';
import { bytesToNumberLE } from '@noble/curves/utils.js';
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

/** Sections of a `.zkey` with points that verify. */
const [HEADER, IC] = [2, 3];

/** Returns the verification key that stands in a `.zkey` on BN254, as snarkjs exports it. */
export function verificationKeyIn(zkey: Uint8Array): VerificationKey {
  const view = new DataView(zkey.buffer, zkey.byteOffset, zkey.byteLength);
  const sections = new Map<number, Uint8Array>();
  for (let at = 12; at < zkey.length; ) {
    const [id, size] = [view.getUint32(at, true), Number(view.getBigUint64(at + 4, true))];
    sections.set(id, zkey.subarray(at + 12, at + 12 + size));
    at += 12 + size;
  }
  const { Fp } = bn254.fields;
  const fromMontgomery = Fp.inv(2n ** 256n % Fp.ORDER);
  const readerOf = (bytes: Uint8Array) => {
    let at = 0;
    const number = (): string => {
      const value = bytesToNumberLE(bytes.subarray(at, at + 32));
      at += 32;
      return String(Fp.mul(value, fromMontgomery));
    };
    const g1 = (): string[] => [number(), number()];
    const g2 = (): string[][] => [g1(), g1()];
    return { g1, g2, isDone: () => at >= bytes.length };
  };
  // before the points: two primes with their lengths, and three counts
  const header = readerOf((sections.get(HEADER) as Uint8Array).subarray(2 * (4 + 32) + 3 * 4));
  const [alpha, , beta, gamma, , delta] = [
    header.g1(),
    header.g1(),
    header.g2(),
    header.g2(),
    header.g1(),
    header.g2(),
  ];
  const ic = readerOf(sections.get(IC) as Uint8Array);
  const points: string[][] = [];
  while (!ic.isDone()) points.push(ic.g1());
  return { vk_alpha_1: alpha, vk_beta_2: beta, vk_gamma_2: gamma, vk_delta_2: delta, IC: points };
}
