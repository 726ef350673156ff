/** What scalars are to the GPU and to the CPU: additions, buckets, bytes. */
import type { CurveContext } from '../../curves/curve.js';
import { additionNs, CPU_BUCKET_ADDITIONS, type Work } from './cost.js';
import { cpuWindowBits, defaultWindowBits } from './window-bits.js';
import { windowCount } from './window-count.js';
import { blocksOf, expectedDigits, NO_TABLES, shareOf, type Workload } from './workload.js';

/** Points that the CPU brings into memory together: more would take more of it, and fewer more additions of buckets. */
export const MOST_POINTS = 2 ** 16;

/** How the CPU computes a vector. */
export interface CpuShape {
  readonly windowBits: number;
  readonly windows: number;
  /** Digits that are not zero, about, of all its scalars. */
  readonly digits: number;
}

/** @param load of one vector, and of its bases alone */
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

/** What a worker has to have to do, in milliseconds, to be worth starting: twice what it takes to start one. */
const LEAST_MS = 40;

/** How many workers, beside the own thread, so many additions justify. */
export const workersFor = (curve: CurveContext, additions: number): number =>
  Math.floor((additions * additionNs(curve)) / 1e6 / LEAST_MS);

/** A worker less than a core is to a round (docs/performance.md, "On the CPU"). */
const EFFICIENCY = 0.85;

/**
 * @param loads of vectors, none of them empty
 * @param workers at most
 * @returns what one thread would have to do in as much time
 */
export const cpuWork = (curve: CurveContext, loads: readonly Workload[], workers: number): Work => {
  const { digits, buckets } = sum(
    loads.map((load) => {
      const { windowBits, windows, digits } = cpuShape(load);
      const rounds = Math.ceil(load.n / MOST_POINTS);
      return { digits, buckets: rounds * windows * 2 ** (windowBits - 1), bytes: 0 };
    }),
  );
  const threads = 1 + EFFICIENCY * Math.min(workers, workersFor(curve, digits + CPU_BUCKET_ADDITIONS * buckets));
  return { digits: digits / threads, buckets: buckets / threads, bytes: 0 };
};

/**
 * @param loads of vectors, none of them empty
 * @param windowBits as a knob says; null where it is left open
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
