/** The JSON of snarkjs. */
import type { AffinePoint, Fp2 } from '../api/values.js';
import { projective, snarkjsNames } from '../proofs/snarkjs-json.js';
import type { Groth16Proof, ProvingKey } from './api.js';

/** The three points of a proof. */
export interface ProofPoints {
  readonly a: AffinePoint;
  readonly b: AffinePoint<Fp2>;
  readonly c: AffinePoint;
}

const pair = ({ c0, c1 }: Fp2): [string, string] => [String(c0), String(c1)];

export const writeProof = (curve: ProvingKey['curve'], { a, b, c }: ProofPoints): Groth16Proof => ({
  pi_a: projective(a, 0n, 1n, String),
  pi_b: projective(b, { c0: 0n, c1: 0n }, { c0: 1n, c1: 0n }, pair),
  pi_c: projective(c, 0n, 1n, String),
  protocol: 'groth16',
  curve: snarkjsNames[curve],
});
