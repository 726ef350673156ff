/** Work of scalars on the GPU and on the CPU: additions, buckets, bytes. */
import type { CurveContext } from '../../curves/curve.js';
import { additionNs, CPU_BUCKET_ADDITIONS, type Work } from './cost.js';
import { cpuWindowBits, defaultWindowBits } from './window-bits.js';
import { windowCount } from './window-count.js';
import { blocksOf, expectedDigits, NO_TABLES, shareOf, type Workload } from './workload.js';

/**
 * Points that the CPU holds in memory at a time. More points take more memory, fewer points more
 * additions of buckets.
 */
export const MOST_POINTS = 2 ** 16;

/** Shape of a vector's computation on the CPU. */
export interface CpuShape {
  readonly windowBits: number;
  readonly windows: number;
  /** Expected nonzero digits of all its scalars. */
  readonly digits: number;
}

/** @param load one vector, without tables */
export const cpuShape = (load: Workload): CpuShape => {
  const plain = { ...load, tables: NO_TABLES };
  const together = shareOf(plain, Math.min(load.n, MOST_POINTS));
  const windowBits = cpuWindowBits(load.bits, (c) => expectedDigits(together, c));
  return { windowBits, windows: windowCount(load.bits, windowBits), digits: expectedDigits(plain, windowBits) };
};

const sum = (works: readonly Work[]): Work =>
  works.reduce(
    (all, each) => ({
      digits: all.digits + each.digits,
      buckets: all.buckets + each.buckets,
      bytes: all.bytes + each.bytes,
    }),
    { digits: 0, buckets: 0, bytes: 0 },
  );

/** Work that justifies starting a worker, in ms: twice the time to start one. */
const START_MS = 40;

/**
 * Least work that is divided among workers that run, and work of a thread that justifies waking a
 * worker, in ms: where workers share memory, and where each is sent a copy of the input.
 */
const SHARED = { leastMs: 20, wakeMs: 4 };
const COPIED = { leastMs: START_MS, wakeMs: 20 };

const workMs = (curve: CurveContext, additions: number): number => (additions * additionNs(curve)) / 1e6;

/**
 * Returns how many workers, beside the calling thread, a number of additions justifies starting. It
 * has a fraction, so that the work of several calls adds up.
 */
export const workersToStart = (curve: CurveContext, additions: number): number => workMs(curve, additions) / START_MS;

/**
 * Returns how many of the workers that run a number of additions justifies waking.
 *
 * @param sharesMemory whether workers share memory; otherwise each is sent a copy of the input
 */
export const workersToWake = (curve: CurveContext, additions: number, sharesMemory: boolean): number => {
  const ms = workMs(curve, additions);
  const { leastMs, wakeMs } = sharesMemory ? SHARED : COPIED;
  return ms < leastMs ? 0 : Math.floor(ms / wakeMs);
};

/** Speed of a worker as a part of a core's (docs/reference/performance.md). */
const EFFICIENCY = 0.85;

/**
 * Returns the work of vectors on the CPU, divided by the threads that share it.
 *
 * @param loads the vectors, none of them empty
 * @param workers the most workers
 */
export const cpuWork = (curve: CurveContext, loads: readonly Workload[], workers: number): Work => {
  const { digits, buckets } = sum(
    loads.map((load) => {
      const { windowBits, windows, digits } = cpuShape(load);
      const rounds = Math.ceil(load.n / MOST_POINTS);
      return { digits, buckets: rounds * windows * 2 ** (windowBits - 1), bytes: 0 };
    }),
  );
  const started = Math.floor(workersToStart(curve, digits + CPU_BUCKET_ADDITIONS * buckets));
  const threads = 1 + EFFICIENCY * Math.min(workers, started);
  return { digits: digits / threads, buckets: buckets / threads, bytes: 0 };
};

/**
 * Returns the work of vectors on the GPU.
 *
 * @param loads the vectors, none of them empty
 * @param windowBits the knob; null if it is not set
 */
export const gpuWork = (
  { scalarBytes }: CurveContext,
  loads: readonly Workload[],
  additionsPerSubmit: number,
  windowBits: number | null,
): Work =>
  sum(
    loads.map((load) => {
      const c = windowBits ?? defaultWindowBits(load, additionsPerSubmit);
      const windows = windowCount(blocksOf(load).bits - 1, c);
      return { digits: expectedDigits(load, c), buckets: windows * 2 ** (c - 1), bytes: load.n * scalarBytes };
    }),
  );
