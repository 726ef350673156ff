/// <reference lib="esnext.disposable" preserve="true" />
/** The types that `webgpu-msm/groth16`, `webgpu-msm/plonk` and `webgpu-msm/fflonk` have in common. */
import type { EngineStats, Progress, TurnOptions } from '../api/calls.js';
import type { MemoryUse } from '../api/device.js';
import type { MsmEngineOptions } from '../engine/options.js';
import type { KeyCache } from '../formats/key-cache.js';

export type { CachedKey, KeyCache } from '../formats/key-cache.js';
export type { ByteStream, FileOrigin, FileSource, RandomAccess } from '../formats/source.js';

/** Progress of a proof. */
export interface ProofProgress extends Progress {
  /**
   * Name of the part that is complete. Groth16: `quotient`, the sums `A`, `B1`, `B2`, `C` and `H`,
   * in the order in which they end, and `assembly`. PLONK and FFLONK: `round 1` to `round 5`. All:
   * `verification`, if asked for.
   */
  readonly part: string;
}

/** Options of `ProvingKey.prove`. */
export interface ProveOptions extends TurnOptions {
  /** Ends the proof with code `aborted`. The key stays usable. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called when a part of the proof is complete: of Groth16 the quotient, each of five sums, the
   * assembly; of PLONK and FFLONK a round; and the verification. `part` is its name.
   */
  readonly onProgress?: ((progress: ProofProgress) => void) | undefined;
  /**
   * Verifies the proof before it is returned, by pairings on the CPU, which take 20 to 30 ms.
   * A proof that does not verify is not returned: the call rejects with `bad-argument`.
   *
   * @defaultValue `false`
   */
  readonly verifyProof?: boolean | undefined;
}

/** Options of `ProvingKey.verify`. */
export interface VerifyOptions {
  /** Ends the verification with code `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A number as `verify` and `exportSolidityCallData` take it: a bigint, an integer up to 2^53 − 1, or
 * a string of decimal digits, or of 0x and hexadecimal ones.
 */
export type ProofNumber = bigint | number | string;

/** A part of a proof, with its numbers in any form. */
export type InAnyForm<Part> = Part extends string
  ? ProofNumber
  : Part extends readonly (infer Each)[]
    ? readonly InAnyForm<Each>[]
    : { readonly [Name in keyof Part]: InAnyForm<Part[Name]> };

/** Names in a proof as snarkjs writes it. */
export interface NamedProof {
  /** Name of the proof system. */
  readonly protocol: string;
  /** Name of the curve, as snarkjs has it. */
  readonly curve: string;
}

/**
 * A proof as `verify` and `exportSolidityCallData` take it: numbers in any form, points of two or
 * three coordinates. The names of the proof system and of the curve may be missing.
 */
export type ProofInput<Proof extends NamedProof> = InAnyForm<Omit<Proof, 'protocol' | 'curve'>> & {
  /** Name of the proof system. */
  readonly protocol?: string | undefined;
  /** Name of the curve, as snarkjs has it. */
  readonly curve?: string | undefined;
};

/** Facts about the circuit of a key. */
export interface CircuitFacts {
  /** The curve. */
  readonly curve: 'bn254' | 'bls12-381';
  /** Number of variables, with the constant 1, the public ones, and additions. */
  readonly variables: number;
  /** Number of public variables, without the constant 1. */
  readonly publicSignals: number;
  /** Size of the evaluation domain, a power of two. */
  readonly domainSize: number;
}

/** Memory of a key. `bases`, `scalars`, `scratch` and `peak` are on the GPU, as engines count it. */
export interface KeyMemory extends MemoryUse {
  /**
   * Bytes of matrices or polynomials, of the vectors of proofs under way, and of tables: in memory
   * of WebAssembly, and on the GPU if it has them as well.
   */
  readonly vectors: number;
  /** Bytes of points in main memory. A GPU that computes has them as well. */
  readonly points: number;
  /**
   * Bytes of points that stay in the file, because `memoryLimit` has no room for them. A proof of
   * Groth16 reads them once, one of PLONK and FFLONK for each round with commitments.
   */
  readonly pagedPoints: number;
  /** Most bytes of main memory for the key and its proofs: `memoryLimit`, or its default. */
  readonly limit: number;
  /**
   * The least `memoryLimit` that the key opens with under the same options, in bytes: what proofs
   * take if no point stays in memory.
   */
  readonly leastLimit: number;
}

/** A key of one circuit, loaded to prove. */
export interface CircuitKey extends CircuitFacts {
  /**
   * Counts of the proofs so far, and of those that wait, as an engine counts its calls. `gpuMs` and
   * `retries` are about their sums.
   */
  readonly stats: EngineStats;
  /** Memory that the key holds now. */
  readonly memory: KeyMemory;
  /**
   * Frees memory that is only kept for later proofs: tables, scratch on the GPU, idle workers.
   *
   * @throws MsmError `destroyed`
   * @example
   * ```ts
   * import { readFile } from 'node:fs/promises';
   * import { openProvingKey } from 'webgpu-msm/groth16';
   *
   * const key = await openProvingKey(await readFile('circuit.zkey'));
   * await key.prove(await readFile('witness.wtns'));
   * await key.trim(); // after the last of many proofs
   * key.destroy();
   * ```
   */
  trim(): Promise<void>;
  /** Frees the key. Running and later proofs reject with code `destroyed`. */
  destroy(): void;
  /** `destroy`, for `using`. */
  [Symbol.dispose](): void;
}

/**
 * Options of engines, as `createMsmEngine` has them. `maxQueued` and `onEvent` are about proofs,
 * not about their sums.
 */
export interface EngineOptions
  extends Pick<
    MsmEngineOptions,
    | ('backend' | 'device' | 'deviceOf' | 'gpu' | 'maxWorkers' | 'createWorker' | 'memoryBudget' | 'deviceBudget')
    | ('retries' | 'sharing' | 'tuning' | 'verify' | 'onWarning')
    | ('maxQueued' | 'onEvent')
  > {}

/** Options of `openProvingKey`; those of engines are as `createMsmEngine` has them. */
export interface ProvingKeyOptions extends EngineOptions {
  /**
   * Keeps the key from one visit to the next: `opfsCache` of `webgpu-msm/formats`, or `folderCache` of
   * `webgpu-msm/node`. Of a key that the cache has, the header alone is read from the source, and the
   * CPU does not check the points again. A stream is written to the cache as it arrives. A cache that fails
   * is left out, with a warning.
   *
   * @defaultValue no cache
   */
  readonly cache?: KeyCache | undefined;
  /**
   * Most bytes of main memory for the key and its proofs, one of which is computed at a time, or two under
   * the default where they have room: points, matrices or polynomials, vectors, the witness, and memory of the sums of all threads.
   * Points without room are read from the file for each proof, page by page, and checked then, so
   * the file must stay readable, unless it is bytes. Where not all points and matrices of Groth16
   * have room, proofs read the matrices from the file, too. Not counted: bytes that are the file,
   * programs, and garbage that the platform has not collected. Without `maxWorkers`, threads take half
   * of the limit at most. A limit below what a proof takes without any points is refused; under the
   * default such a key is loaded all the same, without points. A worker of your own cannot tell an iPad
   * from a Mac: set a limit there.
   *
   * @defaultValue half of the memory that a browser tells (`navigator.deviceMemory`), a quarter of it on a
   *   phone, 0.5 GiB on a phone that tells none; in Node three quarters of the memory of the machine or its
   *   container; elsewhere no limit
   */
  readonly memoryLimit?: number | undefined;
  /**
   * Ends the load with code `aborted`, for everyone who awaits it. Load a key that several callers
   * share without a signal, and end a proof by the signal of `prove`.
   */
  readonly signal?: AbortSignal | undefined;
}
