/** The options of `accelerate`, and its counts. */

import type { AdapterDescription } from '../api/device.js';
import type { RunRecord } from '../api/run-record.js';
import { engineOptions, type MsmEngineOptions, memoryLimitRow, signalRow } from '../engine/options.js';
import type { KeyCache } from '../formats/key-cache.js';
import { type OptionTable, pickRows, readOptions, setOptions } from '../option-table.js';
import type { BasesCacheStats, KeyCacheCounts } from './caches.js';
import type { FfCurveName } from './ffjavascript.js';

/** Options that `accelerate` passes on to its engines. */
const ofEngines = [
  'backend',
  'device',
  'gpu',
  'maxWorkers',
  'createWorker',
  'memoryBudget',
  'tuning',
  'verify',
] as const satisfies readonly (keyof MsmEngineOptions)[];

/** Options that `accelerate` passes on to its engines, as `createMsmEngine` has them. */
export type EnginesOptions = Pick<MsmEngineOptions, (typeof ofEngines)[number]>;

/** Options of `accelerate`. */
export interface AccelerateOptions extends EnginesOptions {
  /**
   * Bytes of points and keys that may stay loaded from one proof to the next. Beyond it the least
   * recently used are freed. A key that does not fit is loaded for each proof, and freed after it.
   * `AccelerateStats.basesBudget` has the value.
   *
   * @defaultValue an eighth of main memory (of 4 GiB where its size is unknown), at least 64 MiB
   */
  readonly basesBudget?: number | undefined;
  /**
   * Most bytes of main memory for a key and its proofs, as `openProvingKey` has it: points without
   * room are read from the file for each proof. Also of each setup, as `webgpu-msm/setup` has it;
   * one that takes more is left to snarkjs, with a warning.
   *
   * @defaultValue as `openProvingKey` has it
   */
  readonly memoryLimit?: number | undefined;
  /**
   * Keeps keys of whole proofs from one visit to the next, as `openProvingKey` does: `opfsCache` of
   * `webgpu-msm/formats`, or `folderCache` of `webgpu-msm/node`.
   *
   * @defaultValue no cache
   */
  readonly cache?: KeyCache | undefined;
  /**
   * Least number of points of an MSM, and least domain of a circuit, that this library computes;
   * smaller ones are left to snarkjs.
   *
   * @defaultValue `64`
   */
  readonly leastPoints?: number | undefined;
  /**
   * Accelerates curves without threads too: those of proofs with snarkjs's option of this name, and
   * those that you have snarkjs make afterwards. `accelerate` makes one such curve to find the
   * class of its groups, which takes about 0.3 s.
   *
   * @defaultValue `false`: snarkjs computes their MSMs itself, without a warning
   */
  readonly singleThread?: boolean | undefined;
  /**
   * Leaves the proofs and MSMs of a curve to snarkjs where it is faster. Only an engine whose CPU
   * has neither multiply-adds of floats nor wide arithmetic is measured, once in a process: by a
   * small MSM of both sides, as soon as snarkjs has started its threads. Results are the same.
   *
   * @defaultValue `true`
   */
  readonly measure?: boolean | undefined;
  /**
   * Verifies whole proofs before they are returned, by pairings on the CPU, which take 20 to 30 ms.
   * snarkjs makes the proof, with a warning, where that of this library does not verify. snarkjs's
   * own verifier verifies the proofs that snarkjs makes. A proof that does not verify is not
   * returned: the call rejects with `bad-argument`.
   *
   * @defaultValue `false`
   */
  readonly verifyProof?: boolean | undefined;
  /**
   * Aborts loads, MSMs and whole proofs: the proof rejects with the `MsmError` `aborted`. A signal
   * stays aborted, so all later MSMs of snarkjs reject too, those of its verifier included, until
   * you restore snarkjs. An MSM that snarkjs is computing itself completes first.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called with a warning, once for each of these: snarkjs computed an MSM itself because this
   * library could not; it computed a whole proof itself; a proof was written in which no MSM
   * reached this library; only the MSMs of a proof were accelerated although whole proofs could be;
   * `basesBudget` was too small (the message has a sufficient size); and once
   * for each message that the engines warn of. Exceptions that it throws are ignored.
   *
   * @defaultValue `console.warn`
   */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** Valid options, with defaults filled in. */
export interface ReadAccelerateOptions {
  readonly engines: EnginesOptions & Required<Pick<MsmEngineOptions, 'onWarning'>>;
  /** undefined: chosen by the device and main memory. */
  readonly basesBudget: number | undefined;
  /** undefined: the default of `openProvingKey`. */
  readonly memoryLimit: number | undefined;
  /** undefined: none. */
  readonly cache: KeyCache | undefined;
  /** Whether keys of servers are read by ranges, whatever their size: with `memoryLimit` or `cache`. */
  readonly readsInParts: boolean;
  readonly leastPoints: number;
  readonly singleThread: boolean;
  readonly measure: boolean;
  readonly verifyProof: boolean;
  readonly signal: AbortSignal | undefined;
  /** Never throws. */
  warn(message: string): void;
}

/** `accelerate`. */
export const accelerateOptions = {
  of: 'accelerate',
  rows: {
    .../* @__PURE__ */ pickRows(engineOptions.rows, ofEngines),
    basesBudget: { kind: 'integer', range: [0, Number.MAX_SAFE_INTEGER], says: 'a non-negative integer' },
    memoryLimit: memoryLimitRow,
    cache: { kind: 'cache' },
    leastPoints: { kind: 'integer', range: [0, Number.MAX_SAFE_INTEGER], default: 64, says: 'a non-negative integer' },
    singleThread: { kind: 'flag', default: false },
    measure: { kind: 'flag', default: true },
    verifyProof: { kind: 'flag', default: false },
    signal: signalRow,
    onWarning: { kind: 'function' },
  },
} as const satisfies OptionTable<AccelerateOptions>;

/**
 * Reads and checks the options of `accelerate`. Later changes of the object have no effect.
 *
 * @throws MsmError `bad-argument` naming the option
 */
export const readAccelerateOptions = async (options: AccelerateOptions): Promise<ReadAccelerateOptions> => {
  const { onWarning = console.warn, ...read } = readOptions(accelerateOptions, options);
  const { basesBudget, memoryLimit, cache, leastPoints, singleThread, verifyProof, measure, signal } = read;
  const warn = (message: string): void => {
    try {
      onWarning(message);
    } catch {
      // a failing callback must not fail the proof
    }
  };
  // the engines of several groups give the same warnings
  const warned = new Set<string>();
  const engines = {
    ...setOptions(Object.fromEntries(ofEngines.map((name) => [name, read[name]]))),
    onWarning: (message: string): void => {
      if (!warned.has(message)) warn(message);
      warned.add(message);
    },
  };
  const readsInParts = memoryLimit !== undefined || cache !== undefined;
  return {
    ...{ engines, basesBudget, memoryLimit, cache, readsInParts, leastPoints },
    ...{ singleThread, verifyProof, measure, signal, warn },
  };
};

/** Returns the warning of points or keys that find no room. @param enough bytes that would do */
export const tightWarning = (basesBudget: number, enough: number): string =>
  `points or keys are loaded again or not at all, because they exceed basesBudget, ${basesBudget} bytes; set it to ${enough} or more`;

/** Counts of the work done for snarkjs since `accelerate` was last called. */
export interface AccelerateStats extends Readonly<BasesCacheStats>, Readonly<KeyCacheCounts> {
  /** Proofs that this library computed whole. Their MSMs are not counted in `calls` and `on`. */
  readonly wholeProofs: number;
  /**
   * Proofs of `Accelerated` that snarkjs computed, of keys that are small included.
   */
  readonly snarkjsProofs: number;
  /** MSMs that this library computed. */
  readonly calls: number;
  /**
   * Points of these MSMs, including points with a zero scalar, without trailing points at infinity.
   */
  readonly points: number;
  /** MSMs that this library failed to compute and snarkjs computed instead. */
  readonly fallbacks: number;
  /** MSMs left to snarkjs because they have fewer points than `leastPoints`. */
  readonly small: number;
  /** MSMs left to snarkjs because it is faster, those of its proofs included. */
  readonly slower: number;
  /** Curves whose proofs and MSMs are left to snarkjs because it is faster. */
  readonly leftToSnarkjs: readonly FfCurveName[];
  /** Split of `calls` by what computed them: the GPU, the CPU, or both together. */
  readonly on: Readonly<Record<RunRecord['on'], number>>;
  /** The largest number of workers that took part in one MSM. */
  readonly workers: number;
  /**
   * Time that pipelines took to compile on the device, in milliseconds, summed although several
   * compile at a time.
   */
  readonly compileMs: number;
  /**
   * The largest number of bytes of points and keys that stay loaded: the option `basesBudget` or
   * its default.
   */
  readonly basesBudget: number;
  /**
   * The adapter that the engines compute on, as `MsmEngine.adapter` describes it; null before the
   * first MSM or whole proof.
   */
  readonly adapter: AdapterDescription | null;
  /** MSMs whose scalars an earlier MSM had loaded, as the MSMs of one witness do. */
  readonly sharedScalars: number;
}

/** The counts of `AccelerateStats`, mutable. */
export type Counts = { -readonly [Name in keyof AccelerateStats]: AccelerateStats[Name] } & {
  on: Record<RunRecord['on'], number>;
};

export const noCounts = (): Counts => ({
  wholeProofs: 0,
  snarkjsProofs: 0,
  keyLoads: 0,
  keyBytes: 0,
  calls: 0,
  points: 0,
  fallbacks: 0,
  small: 0,
  slower: 0,
  leftToSnarkjs: [],
  sharedScalars: 0,
  on: { gpu: 0, cpu: 0, both: 0 },
  workers: 0,
  compileMs: 0,
  basesBudget: 0,
  adapter: null,
  hits: 0,
  loads: 0,
  evictions: 0,
  bytes: 0,
});
