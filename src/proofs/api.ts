/// <reference lib="esnext.disposable" preserve="true" />
/** Types and options that the keys of all proof systems share. */
import type { EngineStats, Progress, TurnOptions } from '../api/calls.js';
import type { MemoryUse } from '../api/device.js';
import { engineOptions, type MsmEngineOptions, signalRow } from '../engine/options.js';
import { type OptionTable, pickRows, type ReadOptions, setOptions } from '../option-table.js';
import { CallQueue } from '../scheduling/call-queue.js';

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

/** Memory of a key. All but `vectors` is on the GPU, as engines count it. */
export interface KeyMemory extends MemoryUse {
  /**
   * Bytes of matrices or polynomials, of the vectors of proofs under way, and of tables: in memory
   * of WebAssembly, and on the GPU if it has them as well.
   */
  readonly vectors: number;
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
   * await key.trim(); // after the last of many proofs
   * ```
   */
  trim(): Promise<void>;
  /** Frees the key. Running and later proofs reject with code `destroyed`. */
  destroy(): void;
  /** `destroy`, for `using`. */
  [Symbol.dispose](): void;
}

/** Options that keys pass on to their engines. */
const ofEngines = [
  'backend',
  'device',
  'deviceOf',
  'gpu',
  'maxWorkers',
  'createWorker',
  'memoryBudget',
  'deviceBudget',
  'retries',
  'sharing',
  'tuning',
  'calibrate',
  'calibrationStore',
  'verify',
  'onWarning',
] as const satisfies readonly (keyof MsmEngineOptions)[];

/** Options of engines that keys apply to their proofs. */
const ofProofs = ['maxQueued', 'onEvent'] as const satisfies readonly (keyof MsmEngineOptions)[];

/**
 * Options of engines, as `createMsmEngine` has them. `maxQueued` and `onEvent` are about proofs,
 * not about their sums.
 */
export interface EngineOptions extends Pick<MsmEngineOptions, (typeof ofEngines)[number] | (typeof ofProofs)[number]> {}

/**
 * Proofs of a key that are under way at a time: one is prepared while the device computes for the
 * other. The CPU takes as long for many with 1, 2 or 3 (row `proofs-at-a-time`).
 */
const PROOFS_AT_A_TIME = 2;

/** Options of `openProvingKey` in all proof systems. */
export interface KeyOptions extends EngineOptions {
  readonly signal?: AbortSignal | undefined;
}

/** `openProvingKey` in all proof systems. */
export const keyOptions = {
  of: 'openProvingKey',
  rows: { .../* @__PURE__ */ pickRows(engineOptions.rows, [...ofEngines, ...ofProofs]), signal: signalRow },
} as const satisfies OptionTable<KeyOptions>;

/** Settings that the options of a key make. */
export interface KeySettings {
  /** Options of engines that are set. */
  readonly ofEngines: EngineOptions;
  /** Queue of the key's proofs. */
  readonly proofs: CallQueue;
}

const NO_LIMITS = { calls: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY } as const;

/** Returns the options of the engines of a key, and the queue of its proofs. */
export const keySettingsOf = (read: ReadOptions<KeyOptions, typeof keyOptions.rows>): KeySettings => {
  const { maxQueued = NO_LIMITS, onEvent, sharing } = read;
  const width = sharing?.overlap === false ? 1 : PROOFS_AT_A_TIME;
  return {
    ofEngines: setOptions(Object.fromEntries(ofEngines.map((name) => [name, read[name]]))) as EngineOptions,
    proofs: new CallQueue(maxQueued, onEvent, width),
  };
};
