/** Types of `webgpu-msm/groth16`. */
import type { Progress } from '../api/calls.js';
import type { FileSource } from '../formats/source.js';
import type { CircuitKey, ProofInput, ProofNumber, ProveOptions, VerifyOptions } from '../proofs/api.js';
import type { EngineOptions } from '../proofs/engine-options.js';

/** Options of `openProvingKey`; those of engines are as `createMsmEngine` has them. */
export interface ProvingKeyOptions extends EngineOptions {
  /**
   * Ends the load with code `aborted`, for everyone who awaits it. Load a key that several callers
   * share without a signal, and end a proof by the signal of `prove`.
   */
  readonly signal?: AbortSignal | undefined;
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
