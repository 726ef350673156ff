/** Types of `webgpu-msm/groth16`, and a proof as JSON and as calldata. */
import type { Progress } from '../api/calls.js';
import type { AffinePoint, Fp2 } from '../api/values.js';
import type { FileSource } from '../formats/source.js';
import type {
  CircuitKey,
  ProofInput,
  ProofNumber,
  ProveOptions,
  ProvingKeyOptions as SharedOptions,
  VerifyOptions,
} from '../proofs/api.js';
import {
  pairWords,
  pointWords,
  projective,
  publicWords,
  readProofObject,
  snarkjsNames,
} from '../proofs/snarkjs-json.js';

/** Options of `openProvingKey`; those of engines are as `createMsmEngine` has them. */
export interface ProvingKeyOptions extends SharedOptions {
  /** Called when a section of the key is loaded. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** A proof of Groth16 as snarkjs writes it: numbers in decimal, points with a third coordinate. */
export interface Groth16Proof {
  /** π_A: x, y, 1. */
  readonly pi_a: [x: string, y: string, z: string];
  /** π_B in G2: x, y, 1, each as two numbers. */
  readonly pi_b: [x: [string, string], y: [string, string], z: [string, string]];
  /** π_C. */
  readonly pi_c: [x: string, y: string, z: string];
  /** The proof system. */
  readonly protocol: 'groth16';
  /** The name that snarkjs has for the curve. */
  readonly curve: 'bn128' | 'bls12381';
}

/** A proof, and the public values that it is verified with. */
export interface ProofResult {
  /** The proof. */
  readonly proof: Groth16Proof;
  /** Values of the public variables without the constant 1, in decimal. */
  readonly publicSignals: string[];
}

/** A key of one circuit, loaded to prove. Made by `openProvingKey`. */
export interface ProvingKey extends CircuitKey {
  /**
   * Proves that the witness satisfies the circuit. Several proofs may run at a time. The witness is
   * not checked: a proof of one that does not satisfy the circuit does not verify. With
   * `verifyProof` such a proof is not returned.
   *
   * @param witness a `.wtns` file, or the values of all variables, 32 little-endian bytes each.
   *   Bytes are copied before the call returns.
   * @throws MsmError `bad-argument` (another number of values, another prime, a value ≥ r; with
   *   `verifyProof` a proof that does not verify), `aborted`, `destroyed`, `out-of-memory`,
   *   `device-lost`, `internal`. No message has a value of the witness.
   * @example
   * ```ts
   * import { openProvingKey } from 'webgpu-msm/groth16';
   * import { openFile } from 'webgpu-msm/node';
   *
   * const key = await openProvingKey(await openFile('circuit.zkey'));
   * const { publicSignals } = await key.prove(await openFile('witness.wtns'));
   * console.log(publicSignals.length === key.publicSignals); // true
   * key.destroy();
   * ```
   */
  prove(witness: FileSource, options?: ProveOptions): Promise<ProofResult>;

  /**
   * Verifies a proof of this circuit by the points of the key: on the CPU, in turns of a few
   * milliseconds.
   *
   * @param proof a proof as snarkjs's `verify` takes it
   * @param publicSignals values of the public variables without the constant 1
   * @returns false for a proof that does not verify, also for one with another number of public
   *   values, points outside of the group or numbers that are not below their prime
   * @throws MsmError `bad-argument` if it is no proof of this proof system; `aborted`, `destroyed`;
   *   `not-in-subgroup` for points of a damaged key
   * @example
   * ```ts
   * import { openProvingKey } from 'webgpu-msm/groth16';
   * import { openFile } from 'webgpu-msm/node';
   *
   * const key = await openProvingKey(await openFile('circuit.zkey'));
   * const { proof, publicSignals } = await key.prove(await openFile('witness.wtns'));
   * console.log(await key.verify(proof, publicSignals)); // true
   * key.destroy();
   * ```
   */
  verify(
    proof: ProofInput<Groth16Proof>,
    publicSignals: readonly ProofNumber[],
    options?: VerifyOptions,
  ): Promise<boolean>;
}

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

const list = (words: readonly string[]): string => `[${words.join(', ')}]`;

/**
 * Returns the arguments of `verifyProof` of the contract that snarkjs writes for a key: words in
 * hexadecimal, the same text as `groth16.exportSolidityCallData` of snarkjs. Pairs of Fp2 are in
 * the order of the precompiled contract, the second one first.
 *
 * @param proof a proof on BN254, whose numbers fit words
 * @param publicSignals its public values
 * @throws MsmError `bad-argument` naming the number
 * @example
 * ```ts
 * import { exportSolidityCallData, openProvingKey } from 'webgpu-msm/groth16';
 * import { openFile } from 'webgpu-msm/node';
 *
 * const key = await openProvingKey(await openFile('circuit.zkey'));
 * const { proof, publicSignals } = await key.prove(await openFile('witness.wtns'));
 * const calldata = exportSolidityCallData(proof, publicSignals);
 * console.log(JSON.parse(`[${calldata}]`).length); // 4
 * key.destroy();
 * ```
 */
export const exportSolidityCallData = (
  proof: ProofInput<Groth16Proof>,
  publicSignals: readonly ProofNumber[],
): string => {
  const { pi_a, pi_b, pi_c } = readProofObject(proof, 'groth16');
  const [a, c] = [pointWords('proof.pi_a', pi_a), pointWords('proof.pi_c', pi_c)].map(list);
  const b = pairWords('proof.pi_b', pi_b).map(list);
  return `${a},[${b.join()}],${c},[${publicWords(publicSignals)}]`;
};
