/** Types of `webgpu-msm/plonk`, and a proof as calldata. */
import type { FileSource } from '../formats/source.js';
import type { CircuitKey, ProofInput, ProofNumber, ProveOptions, VerifyOptions } from '../proofs/api.js';
import { numberWord, pointWords, publicWords, readProofObject } from '../proofs/snarkjs-json.js';

/** A point of a proof: projective coordinates in decimal. */
export type ProofPoint = [x: string, y: string, z: string];

/** A proof of PLONK as snarkjs writes it. */
export interface PlonkProof {
  /** Commitment to the wire a. */
  readonly A: ProofPoint;
  /** Commitment to the wire b. */
  readonly B: ProofPoint;
  /** Commitment to the wire c. */
  readonly C: ProofPoint;
  /** Commitment to the permutation. */
  readonly Z: ProofPoint;
  /** Commitment to the lowest part of the quotient. */
  readonly T1: ProofPoint;
  /** Commitment to the middle part of the quotient. */
  readonly T2: ProofPoint;
  /** Commitment to the highest part of the quotient. */
  readonly T3: ProofPoint;
  /** Opening at ξ. */
  readonly Wxi: ProofPoint;
  /** Opening at ξ·ω. */
  readonly Wxiw: ProofPoint;
  /** Value of the wire a at ξ. */
  readonly eval_a: string;
  /** Value of the wire b at ξ. */
  readonly eval_b: string;
  /** Value of the wire c at ξ. */
  readonly eval_c: string;
  /** Value of the first permutation at ξ. */
  readonly eval_s1: string;
  /** Value of the second permutation at ξ. */
  readonly eval_s2: string;
  /** Value of the permutation polynomial at ξ·ω. */
  readonly eval_zw: string;
  /** The proof system. */
  readonly protocol: 'plonk';
  /** The name that snarkjs has for the curve. */
  readonly curve: 'bn128' | 'bls12381';
}

/** A proof, and the public values that it is verified with. */
export interface ProofResult {
  /** The proof. */
  readonly proof: PlonkProof;
  /** Values of the public variables without the constant 1, in decimal. */
  readonly publicSignals: string[];
}

/** A key of one circuit, loaded to prove. Made by `openProvingKey`. */
export interface ProvingKey extends CircuitKey {
  /**
   * Proves that the witness satisfies the circuit. Several proofs may run at a time; each takes
   * memory for its polynomials.
   *
   * @param witness a `.wtns` file, or the values of all variables, 32 little-endian bytes each.
   *   Bytes are copied before the call returns.
   * @throws MsmError `bad-argument` (another number of values, another prime, a value ≥ r, a
   *   witness that does not satisfy the circuit, with the first constraint that it fails; with
   *   `verifyProof` a proof that does not verify), `aborted`, `destroyed`, `out-of-memory`,
   *   `device-lost`, `internal`. No message has a value of the witness.
   * @example
   * ```ts
   * import { openProvingKey } from 'webgpu-msm/plonk';
   * import { openFile } from 'webgpu-msm/node';
   *
   * const key = await openProvingKey(await openFile('plonk.zkey'));
   * const { publicSignals } = await key.prove(await openFile('plonk.wtns'));
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
   * @throws MsmError `bad-argument` if it is no proof of this proof system; `aborted`, `destroyed`
   * @example
   * ```ts
   * import { openProvingKey } from 'webgpu-msm/plonk';
   * import { openFile } from 'webgpu-msm/node';
   *
   * const key = await openProvingKey(await openFile('plonk.zkey'));
   * const { proof, publicSignals } = await key.prove(await openFile('plonk.wtns'));
   * console.log(await key.verify(proof, publicSignals)); // true
   * key.destroy();
   * ```
   */
  verify(
    proof: ProofInput<PlonkProof>,
    publicSignals: readonly ProofNumber[],
    options?: VerifyOptions,
  ): Promise<boolean>;
}

const points = ['A', 'B', 'C', 'Z', 'T1', 'T2', 'T3', 'Wxi', 'Wxiw'] as const;
const values = ['eval_a', 'eval_b', 'eval_c', 'eval_s1', 'eval_s2', 'eval_zw'] as const;

/**
 * Returns the arguments of `verifyProof` of the contract that snarkjs writes for a key: two arrays
 * of words in hexadecimal, the same text as `plonk.exportSolidityCallData` of snarkjs, which has no
 * comma between them.
 *
 * @param proof a proof on BN254, whose numbers fit words
 * @param publicSignals its public values
 * @throws MsmError `bad-argument` naming the number
 * @example
 * ```ts
 * import { exportSolidityCallData, openProvingKey } from 'webgpu-msm/plonk';
 * import { openFile } from 'webgpu-msm/node';
 *
 * const key = await openProvingKey(await openFile('plonk.zkey'));
 * const { proof, publicSignals } = await key.prove(await openFile('plonk.wtns'));
 * const [words] = exportSolidityCallData(proof, publicSignals).split('][');
 * console.log(words?.split(',').length); // 24
 * key.destroy();
 * ```
 */
export const exportSolidityCallData = (
  proof: ProofInput<PlonkProof>,
  publicSignals: readonly ProofNumber[],
): string => {
  const members = readProofObject(proof, 'plonk');
  const words = [
    ...points.flatMap((name) => pointWords(`proof.${name}`, members[name])),
    ...values.map((name) => numberWord(`proof.${name}`, members[name])),
  ];
  // a space follows the first comma alone
  return `[${words[0]}, ${words.slice(1).join()}][${publicWords(publicSignals)}]`;
};
