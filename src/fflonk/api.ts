/** Types of `webgpu-msm/fflonk`, the names in a proof, and a proof as calldata. */
import type { FileSource } from '../formats/source.js';
import type { CircuitKey, ProofInput, ProofNumber, ProveOptions, VerifyOptions } from '../proofs/api.js';
import { numberWord, pointWords, publicWords, readMember, readProofObject } from '../proofs/snarkjs-json.js';

/** A point of a proof: projective coordinates in decimal. */
export type ProofPoint = [x: string, y: string, z: string];

/** Commitments of a proof. */
export interface ProofPolynomials {
  /** Commitment to the wires and the quotient of the gates. */
  readonly C1: ProofPoint;
  /** Commitment to the permutation and its quotients. */
  readonly C2: ProofPoint;
  /** Commitment to the quotient by all points that are opened. */
  readonly W1: ProofPoint;
  /** Opening at one further point. */
  readonly W2: ProofPoint;
}

/** Values of polynomials in a proof, in decimal. */
export interface ProofEvaluations {
  /** Value of the selector of a at ξ. */
  readonly ql: string;
  /** Value of the selector of b at ξ. */
  readonly qr: string;
  /** Value of the selector of a·b at ξ. */
  readonly qm: string;
  /** Value of the selector of c at ξ. */
  readonly qo: string;
  /** Value of the constant selector at ξ. */
  readonly qc: string;
  /** Value of the first permutation at ξ. */
  readonly s1: string;
  /** Value of the second permutation at ξ. */
  readonly s2: string;
  /** Value of the third permutation at ξ. */
  readonly s3: string;
  /** Value of the wire a at ξ. */
  readonly a: string;
  /** Value of the wire b at ξ. */
  readonly b: string;
  /** Value of the wire c at ξ. */
  readonly c: string;
  /** Value of the permutation polynomial at ξ. */
  readonly z: string;
  /** Value of the permutation polynomial at ξ·ω. */
  readonly zw: string;
  /** Value of the first quotient of the permutation at ξ·ω. */
  readonly t1w: string;
  /** Value of the second quotient of the permutation at ξ·ω. */
  readonly t2w: string;
  /** Inverse of the product of all denominators of the verifier contract. */
  readonly inv: string;
}

/** A proof of FFLONK as snarkjs writes it. */
export interface FflonkProof {
  /** Commitments. */
  readonly polynomials: ProofPolynomials;
  /** Values of polynomials. */
  readonly evaluations: ProofEvaluations;
  /** The proof system. */
  readonly protocol: 'fflonk';
  /** The name that snarkjs has for BN254. */
  readonly curve: 'bn128';
}

/** A proof, and the public values that it is verified with. */
export interface ProofResult {
  /** The proof. */
  readonly proof: FflonkProof;
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
   * import { openProvingKey } from 'webgpu-msm/fflonk';
   * import { openFile } from 'webgpu-msm/node';
   *
   * const key = await openProvingKey(await openFile('fflonk.zkey'));
   * const { publicSignals } = await key.prove(await openFile('fflonk.wtns'));
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
   *   values, points outside of the group, numbers that are not below their prime, or an `inv` that
   *   the verifier contract refuses
   * @throws MsmError `bad-argument` if it is no proof of this proof system; `aborted`, `destroyed`
   * @example
   * ```ts
   * import { openProvingKey } from 'webgpu-msm/fflonk';
   * import { openFile } from 'webgpu-msm/node';
   *
   * const key = await openProvingKey(await openFile('fflonk.zkey'));
   * const { proof, publicSignals } = await key.prove(await openFile('fflonk.wtns'));
   * console.log(await key.verify(proof, publicSignals)); // true
   * key.destroy();
   * ```
   */
  verify(
    proof: ProofInput<FflonkProof>,
    publicSignals: readonly ProofNumber[],
    options?: VerifyOptions,
  ): Promise<boolean>;
}

/** Names in a proof, in the order of its transcript and of the calldata of verifier contracts. */

export const polynomialNames = ['C1', 'C2', 'W1', 'W2'] as const;

/** Values of polynomials: those before `zw` at ξ, the others at ξ·ω. */
export const evaluationNames = [
  ...(['ql', 'qr', 'qm', 'qo', 'qc', 's1', 's2', 's3'] as const),
  ...(['a', 'b', 'c', 'z', 'zw', 't1w', 't2w'] as const),
] as const;

/**
 * Returns the arguments of `verifyProof` of the contract that snarkjs writes for a key: two arrays
 * of words in hexadecimal, the same text as `fflonk.exportSolidityCallData` of snarkjs, which takes
 * the public values first and has no quotes.
 *
 * @param proof a proof on BN254, whose numbers fit words
 * @param publicSignals its public values
 * @throws MsmError `bad-argument` naming the number
 * @example
 * ```ts
 * import { exportSolidityCallData, openProvingKey } from 'webgpu-msm/fflonk';
 * import { openFile } from 'webgpu-msm/node';
 *
 * const key = await openProvingKey(await openFile('fflonk.zkey'));
 * const { proof, publicSignals } = await key.prove(await openFile('fflonk.wtns'));
 * const [words] = exportSolidityCallData(proof, publicSignals).split('],[');
 * console.log(words?.split(',').length); // 24
 * key.destroy();
 * ```
 */
export const exportSolidityCallData = (
  proof: ProofInput<FflonkProof>,
  publicSignals: readonly ProofNumber[],
): string => {
  const members = readProofObject(proof, 'fflonk');
  const [polynomials, evaluations] = [readMember(members, 'polynomials'), readMember(members, 'evaluations')];
  const words = [
    ...polynomialNames.flatMap((name) => pointWords(`proof.polynomials.${name}`, polynomials[name])),
    ...[...evaluationNames, 'inv' as const].map((name) => numberWord(`proof.evaluations.${name}`, evaluations[name])),
  ];
  // a space follows the first comma alone
  return `[${words[0]}, ${words.slice(1).join()}],[${publicWords(publicSignals)}]`.replaceAll('"', '');
};
