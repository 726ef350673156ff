/// <reference lib="esnext.disposable" preserve="true" />
/** Types of `webgpu-msm/circom`. */
import type { TurnOptions } from '../api/calls.js';
import type { OwnBytes } from '../api/values.js';
import type { FflonkProof } from '../fflonk.js';
import type { KeyCache } from '../formats/key-cache.js';
import type { FileOrigin, FileSource } from '../formats/source.js';
import type { Groth16Proof } from '../groth16.js';
import type { PlonkProof } from '../plonk.js';
import type { CircuitFacts, EngineOptions, ProofInput, ProofNumber, VerifyOptions } from '../proofs/api.js';

/** A file of a circuit. */
export type CircuitFile = FileOrigin;

/** Files of a circuit. */
export interface CircuitFiles {
  /** The program that circom writes beside the circuit, which computes witnesses. */
  readonly wasm: CircuitFile;
  /** The proving key. Without it the circuit computes witnesses alone. */
  readonly zkey?: CircuitFile | undefined;
  /**
   * The names of signals, as circom writes them. With it errors name the inputs that are missing, and
   * `check` names the signals of a constraint.
   */
  readonly sym?: CircuitFile | undefined;
  /**
   * The constraints, as circom writes them. With them `prove` checks each witness before the proof, and
   * `check` tells which constraint a witness does not satisfy. They stay in memory, some 12 bytes for
   * each term.
   */
  readonly r1cs?: CircuitFile | undefined;
}

/**
 * Value of an input signal: a number, an array of values that is nested in any way, or an object with
 * the members of a bus. Numbers are bigints, integers up to 2^53 − 1, booleans, and strings as
 * `BigInt` reads them, all of them also negative or above the prime.
 */
export type SignalValue =
  | bigint
  | number
  | boolean
  | string
  | ArrayBufferView
  | readonly SignalValue[]
  | { readonly [member: string]: SignalValue };

/** Values of the input signals of a circuit, by name. */
export type CircuitInput = Readonly<Record<string, SignalValue>>;

/** Progress of a circuit. */
export interface CircuitProgress {
  /** Work that goes on. `download` and `key` come with `openCircuit`, the others with a proof. */
  readonly stage: 'download' | 'key' | 'witness' | 'proof' | 'verification';
  /**
   * Part of the stage: `wasm`, `sym`, `r1cs` or `zkey` of `download`; `values` of `witness`; the part that is
   * complete of `proof`, as `ProofProgress` of the proving keys has it.
   */
  readonly part: string;
  /** Bytes, values or parts that are complete. */
  readonly done: number;
  /** All of them; null for a download whose length the server does not say. */
  readonly total: number | null;
  /** Estimate of the time until the proof is complete, in ms, by the proof before; else null. */
  readonly remainingMs: number | null;
}

/** Options of `openCircuit`; those of engines are as `createMsmEngine` has them. */
export interface CircuitOptions extends EngineOptions {
  /**
   * Computes in workers: witnesses in one, proofs in another, so that the caller's thread stays free,
   * and witnesses can be aborted. Where no worker starts, `onWarning` is called once, and the
   * caller's thread computes.
   *
   * @defaultValue `true`; `false` with an option that no worker can be sent: `device`, `deviceOf`,
   * `gpu`, `createWorker`, `onEvent`
   */
  readonly worker?: boolean | undefined;
  /**
   * Keeps the key from one visit to the next, as `openProvingKey` does. Workers open the cache
   * themselves, and write a stream to it as it arrives.
   *
   * @defaultValue no cache
   */
  readonly cache?: KeyCache | undefined;
  /**
   * Most bytes of main memory for the key and its proofs, as `openProvingKey` has it. A key by
   * address is then read in parts, if the server has ranges and names versions.
   *
   * @defaultValue as `openProvingKey` has it; a key by address is then downloaded
   */
  readonly memoryLimit?: number | undefined;
  /** Ends the load with code `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** Called while files are downloaded, and when a section of the key is loaded. */
  readonly onProgress?: ((progress: CircuitProgress) => void) | undefined;
}

/** Options of `Circuit.witness`. */
export interface WitnessOptions {
  /**
   * Ends the call with code `aborted`. In a worker a program that is computing ends at once; in the
   * caller's thread nothing is heard until it is done.
   */
  readonly signal?: AbortSignal | undefined;
  /** Called with each line that the circuit logs, without its end. */
  readonly onLog?: ((line: string) => void) | undefined;
}

/** Options of `Circuit.prove`. */
export interface CircuitProveOptions extends WitnessOptions, TurnOptions {
  /** Called when a stage begins, and when a part of it is complete. */
  readonly onProgress?: ((progress: CircuitProgress) => void) | undefined;
  /**
   * Verifies the proof before it is returned. A proof that does not verify is not returned: the call
   * rejects with `bad-argument`.
   *
   * @defaultValue `false`
   */
  readonly verifyProof?: boolean | undefined;
}

/** Options of `Circuit.check`. */
export interface CheckOptions {
  /** Ends the call with code `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Adds the values of the witness to the result. They are secret: do not log them where others read.
   *
   * @defaultValue `false`
   */
  readonly withValues?: boolean | undefined;
}

/** A variable times a number, in a sum of a constraint. */
export interface ConstraintTerm {
  /** The number, between −p/2 and p/2 for the prime p of the field. */
  readonly coefficient: bigint;
  /** Index of the variable in the witness; 0 is the constant 1. */
  readonly variable: number;
  /**
   * Names of the signals that the variable stands for, in the order of the `.sym` file, such as
   * `main.path[3].out`: several if the compiler found them equal, none for the constant, and none
   * without the file.
   */
  readonly signals: readonly string[];
  /** Value of the variable, below p; null without `withValues`. */
  readonly value: bigint | null;
}

/** One of the three sums of a constraint. A sum without terms is 0. */
export interface ConstraintSum {
  /** The terms, in the order of the `.r1cs` file. */
  readonly terms: readonly ConstraintTerm[];
  /** Value of the sum, below p; null without `withValues`. */
  readonly value: bigint | null;
}

/** A constraint a·b = c that a witness does not satisfy. */
export interface UnsatisfiedConstraint {
  /** Its number in the `.r1cs` file, from 0. */
  readonly constraint: number;
  /** The first factor. */
  readonly a: ConstraintSum;
  /** The second factor. */
  readonly b: ConstraintSum;
  /** The sum that the product of the factors should be. */
  readonly c: ConstraintSum;
}

/** Durations of the stages of a proof, in milliseconds. */
export interface ProofTimings {
  /** From the inputs to the witness, with its check by the `r1cs` where there is one. */
  readonly witnessMs: number;
  /** From the witness to the proof. */
  readonly proofMs: number;
  /** null without `verifyProof`. */
  readonly verificationMs: number | null;
  /** From the call to its result. */
  readonly totalMs: number;
}

/** Facts of a circuit's key. */
export interface CircuitKeyFacts extends CircuitFacts {
  /** Its proof system. */
  readonly protocol: CircuitProof['protocol'];
}

/** A proof of any proof system. `protocol` tells which. */
export type CircuitProof = Groth16Proof | PlonkProof | FflonkProof;

/** A proof, its public values, and how long it took. */
export interface CircuitResult {
  /** The proof, as snarkjs writes it. */
  readonly proof: CircuitProof;
  /** Values of the public signals in decimal: outputs, then public inputs. */
  readonly publicSignals: string[];
  /** Durations of the stages. */
  readonly timings: ProofTimings;
}

/** Facts about a circuit that is open. */
export interface OpenCircuitFacts {
  /** Prime of the field of the circuit. */
  readonly prime: bigint;
  /** Number of values of a witness, with the constant 1. */
  readonly values: number;
  /** Facts about the key; null without one. */
  readonly key: CircuitKeyFacts | null;
  /** Whether workers compute. */
  readonly worker: boolean;
}

/** A circuit that is loaded: its program and its key. Made by `openCircuit`. */
export interface Circuit extends OpenCircuitFacts {
  /**
   * Computes a witness and proves with it. Several proofs may run at a time.
   *
   * @param input the values of all input signals by name, copied before the call returns
   * @throws MsmError `bad-argument` naming the signal (unknown, too many or too few values, a value
   *   that is no integer, or that a double rounds), or if the circuit has no key; `unsatisfied` with
   *   the text of circom if an assertion or a constraint does not hold, or with the number of the
   *   constraint if the circuit has an `r1cs` that the witness does not satisfy; `aborted`, `destroyed`,
   *   `out-of-memory`, `overloaded`, `device-lost`, `internal`. No message has a value.
   * @example
   * ```ts
   * import { openCircuit } from 'webgpu-msm/circom';
   *
   * const circuit = await openCircuit({ wasm: 'product.wasm', zkey: 'product.zkey' });
   * const { proof, publicSignals } = await circuit.prove({ a: 3, b: 11 }, { verifyProof: true });
   * console.log(proof.protocol, publicSignals); // groth16 [ '33' ]
   * circuit.destroy();
   * ```
   */
  prove(input: CircuitInput, options?: CircuitProveOptions): Promise<CircuitResult>;
  /**
   * Computes a witness.
   *
   * @returns a `.wtns` file, the same bytes as snarkjs writes
   * @throws as `prove`
   * @example
   * ```ts
   * import { openCircuit } from 'webgpu-msm/circom';
   *
   * const circuit = await openCircuit({ wasm: 'product.wasm' });
   * const file = await circuit.witness({ a: 3, b: 11 });
   * console.log(new TextDecoder().decode(file.subarray(0, 4))); // wtns
   * circuit.destroy();
   * ```
   */
  witness(input: CircuitInput, options?: WitnessOptions): Promise<OwnBytes>;
  /**
   * Finds the first constraint that a witness does not satisfy, on the calling thread, which stays
   * free for other work after each 8 ms.
   *
   * @param witness a `.wtns` file, or its values alone, 32 little-endian bytes each; it is not copied
   *   before the call returns
   * @returns null if the witness satisfies all constraints
   * @throws MsmError `bad-argument` if the circuit has no `r1cs`, for a file that is no witness of the
   *   circuit, or a `sym` that is of another one; `aborted`, `destroyed`
   * @example
   * ```ts
   * import { openCircuit } from 'webgpu-msm/circom';
   *
   * const circuit = await openCircuit({ wasm: 'product.wasm', r1cs: 'product.r1cs', sym: 'product.sym' });
   * const witness = await circuit.witness({ a: 3, b: 11 });
   * console.log(await circuit.check(witness)); // null
   * circuit.destroy();
   * ```
   */
  check(witness: FileSource, options?: CheckOptions): Promise<UnsatisfiedConstraint | null>;
  /**
   * Verifies a proof of this circuit by the points of its key.
   *
   * @returns false for a proof that does not verify
   * @throws MsmError `bad-argument` if it is no proof of this proof system, or if the circuit has no
   *   key; `aborted`, `destroyed`
   * @example
   * ```ts
   * import { openCircuit } from 'webgpu-msm/circom';
   *
   * const circuit = await openCircuit({ wasm: 'product.wasm', zkey: 'product.zkey' });
   * const { proof, publicSignals } = await circuit.prove({ a: 3, b: 11 });
   * console.log(await circuit.verify(proof, publicSignals)); // true
   * circuit.destroy();
   * ```
   */
  verify(
    proof: ProofInput<Groth16Proof> | ProofInput<PlonkProof> | ProofInput<FflonkProof>,
    publicSignals: readonly ProofNumber[],
    options?: VerifyOptions,
  ): Promise<boolean>;
  /** Frees the circuit, and ends its workers. Running and later calls reject with code `destroyed`. */
  destroy(): void;
  /** `destroy`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}
