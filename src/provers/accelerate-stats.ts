import type { AdapterDescription } from '../api/device.js';
import type { RunRecord } from '../api/run-record.js';
import type { BasesCacheStats } from './bases-cache.js';
import type { LeftWork } from './contest.js';
import type { KeyCacheCounts } from './key-cache.js';

/** Counts of the work done for snarkjs since `accelerate` was last called. */
export interface AccelerateStats extends Readonly<BasesCacheStats>, Readonly<KeyCacheCounts> {
  /** Proofs that this library computed whole. Their MSMs are not counted in `calls` and `on`. */
  readonly wholeProofs: number;
  /**
   * Proofs of `Accelerated` that snarkjs computed, of keys that are small or find no room included.
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
  /** MSMs left to snarkjs because it is faster, or to compare its time. */
  readonly slower: number;
  /** Proofs and MSMs that are left to snarkjs because it is faster, with the times of both. */
  readonly leftToSnarkjs: readonly LeftWork[];
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
   * its default. The default depends on main memory alone until a device is open.
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
