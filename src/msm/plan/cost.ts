/**
 * Cost model of an MSM on the GPU and on the CPU: a few coefficients for each, which runs correct.
 */
import type { AdapterDescription } from '../../api/device.js';
import type { CpuRun } from '../../api/run-record.js';
import type { CurveContext } from '../../curves/curve.js';
import { deviceClassOf, type Trust } from './device-profiles.js';
import { cpuWindowBits, defaultWindowBits, SUBMIT_MS, UNMEASURED_BOUND } from './tuning.js';
import { blocksOf, expectedDigits, NO_TABLES, shareOf, type Workload, windowCount } from './workload.js';

/** Work of a call. */
export interface Work {
  /** Nonzero digits, an addition each. */
  readonly digits: number;
  readonly buckets: number;
  /** Bytes to upload. */
  readonly bytes: number;
}

export interface Coefficients {
  /** Time of a call without work, in ms. */
  readonly fixedMs: number;
  /** Time of a digit, in ns. */
  readonly digitNs: number;
  readonly bucketNs: number;
  readonly byteNs: number;
}

/** Returns the time that is proportional to the work, in ms. */
export const growingMs = ({ digitNs, bucketNs, byteNs }: Coefficients, { digits, buckets, bytes }: Work): number =>
  (digitNs * digits + bucketNs * buckets + byteNs * bytes) / 1e6;

/**
 * Returns the time of an addition on one thread of the CPU, in ns. Products dominate it, so it
 * grows with the square of the 29-bit limbs of a coordinate (docs/reference/performance.md).
 */
const additionNs = ({ p, coordinates: { degree } }: CurveContext): number => {
  const limbs = Math.ceil((p.toString(2).length + 5) / 29);
  return 6.3 * limbs * limbs * (degree === 1 ? 1 : 3.4);
};

/** Time of an addition on BN254 G1, to which the times of GPUs refer. */
const REFERENCE_NS = 6.3 * 81;

/** Additions of a bucket on the CPU. */
const CPU_BUCKET_ADDITIONS = 2;

/** Additions of a bucket on the GPU, as `defaultWindowBits` has them. */
const GPU_BUCKET_ADDITIONS = 4.3;

/** A form of arithmetic on the CPU. */
export type CpuArithmetic = CpuRun['arithmetic'];

/**
 * Time of an addition in each arithmetic, relative to `additionNs`: measured at 2^16 in Node 24,
 * Bun and Node 20 (docs/reference/performance.md), and on BigInts at n = 512.
 */
const TIMES: Readonly<Record<CpuArithmetic, number>> = {
  'wasm-fma': 0.36,
  'wasm-wide': 0.52,
  'wasm-simd': 0.63,
  wasm: 1,
  bigint: 8,
};

/**
 * Returns the coefficients of a call on one thread of the CPU. The fixed part is one doubling for
 * each bit.
 */
export const cpuCoefficients = (curve: CurveContext, arithmetic: CpuArithmetic = 'wasm'): Coefficients => {
  const digitNs = TIMES[arithmetic] * additionNs(curve);
  return {
    fixedMs: (curve.scalarBits * 7.5 * additionNs(curve)) / REFERENCE_NS / 1000,
    digitNs,
    bucketNs: CPU_BUCKET_ADDITIONS * digitNs,
    byteNs: 0,
  };
};

type Adapter = Pick<AdapterDescription, 'vendor' | 'architecture' | 'software'>;

/** Returns how far the expected speed of an adapter is to be trusted. */
export const trustOf = (adapter: Adapter): Trust => deviceClassOf(adapter).trust;

/** Returns the coefficients of a call on the GPU. */
export const gpuCoefficients = (curve: CurveContext, adapter: Adapter): Coefficients => {
  const { fixedMs, digitNs: ofReference } = deviceClassOf(adapter);
  const digitNs = (ofReference * additionNs(curve)) / REFERENCE_NS;
  return { fixedMs, digitNs, bucketNs: GPU_BUCKET_ADDITIONS * digitNs, byteNs: adapter.software ? 0.3 : 0.5 };
};

/** A run in the model: the expected time that grows with the work, and the measured time. */
interface Run {
  readonly growingMs: number;
  readonly ms: number;
}

/** Expected cost of a backend, and its runs. */
export interface CostModel {
  /** Coefficients before any run. */
  readonly prior: Coefficients;
  /** The last runs. */
  readonly runs: readonly Run[];
  /** Weight of the prior in runs, if it is less than usual. */
  readonly thought?: number | undefined;
}

/** Number of runs that count. */
const KEPT = 8;

/** Weight of the prior in runs: one or two runs change nothing, a few do. */
const THOUGHT = 2.5;

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((left, right) => left - right);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[half] as number)
    : ((sorted[half - 1] as number) + (sorted[half] as number)) / 2;
};

interface Weighed {
  readonly value: number;
  readonly weight: number;
}

/** Returns the weighted median. */
const weighedMedian = (values: readonly Weighed[]): number => {
  const sorted = [...values].sort((left, right) => left.value - right.value);
  let left = sorted.reduce((sum, { weight }) => sum + weight, 0) / 2;
  for (const { value, weight } of sorted) {
    left -= weight;
    if (left <= 0) return value;
  }
  return Number.NaN;
};

/** Rounds after which the fit is stable. */
const ROUNDS = 6;

/** Least factor, because a coarse clock may measure 0 ms. */
const LEAST_FACTOR = 0.02;

/**
 * Fits the model to its runs: the factor of the growing part, and the fixed part. Each is the
 * weighted median of the values that the runs give and of the prior, computed in turn. The weight
 * of a run is the share that the part has in its time. This minimises the sum of relative
 * differences, which outliers move little.
 */
export const fitted = ({ prior, runs, thought }: CostModel): { readonly factor: number; readonly fixedMs: number } => {
  const weight = thought ?? THOUGHT;
  // a guessed GPU differs from the guess in both parts; small runs would attribute all of it to the
  // fixed part
  const ratios = runs.map(({ growingMs, ms }) => ({ value: ms / (prior.fixedMs + growingMs || 1), weight: 1 }));
  const all = thought === undefined ? 1 : Math.max(LEAST_FACTOR, weighedMedian([{ value: 1, weight }, ...ratios]));
  let [factor, fixedMs] = [all, all * prior.fixedMs];
  for (let round = 0; round < ROUNDS; round++) {
    const shares = runs.map((run) => (factor * run.growingMs) / (fixedMs + factor * run.growingMs || 1));
    const slopes = runs.map((run, i) => ({
      value: Math.max(LEAST_FACTOR, (run.ms - fixedMs) / (run.growingMs || 1)),
      weight: shares[i] as number,
    }));
    factor = weighedMedian([{ value: all, weight }, ...slopes]);
    const rests = runs.map((run, i) => ({
      value: Math.max(0, run.ms - factor * run.growingMs),
      weight: 1 - (shares[i] as number),
    }));
    fixedMs = weighedMedian([{ value: all * prior.fixedMs, weight }, ...rests]);
  }
  return { factor, fixedMs };
};

/** Returns a function that predicts the time of work, in ms. */
export const expectation = (model: CostModel): ((work: Work) => number) => {
  const { factor, fixedMs } = fitted(model);
  return (work) => fixedMs + factor * growingMs(model.prior, work);
};

/** Returns the model after a run. */
export const learned = (model: CostModel, work: Work, ms: number): CostModel => ({
  ...model,
  runs: [...model.runs, { growingMs: growingMs(model.prior, work), ms }].slice(-KEPT),
});

/* Work of scalars on the GPU and on the CPU: additions, buckets, bytes. */

/**
 * Points that the CPU holds in memory at a time. More points take more memory, fewer points more
 * additions of buckets.
 */
export const MOST_POINTS = 2 ** 16;

/** Shape of a vector's computation on the CPU. */
interface CpuShape {
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

const sumOfWorks = (works: readonly Work[]): Work =>
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
export const workersToWake = (curve: CurveContext, additions: number, sharesMemory: boolean): number =>
  workersOfSum(workMs(curve, additions), sharesMemory);

/** Returns the same of a sum. @param ms its time on one thread */
export const workersOfSum = (ms: number, sharesMemory: boolean): number => {
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
  const { digits, buckets } = sumOfWorks(
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
  sumOfWorks(
    loads.map((load) => {
      const c = windowBits ?? defaultWindowBits(load, additionsPerSubmit);
      const windows = windowCount(blocksOf(load).bits - 1, c);
      return { digits: expectedDigits(load, c), buckets: windows * 2 ** (c - 1), bytes: load.n * scalarBytes };
    }),
  );

/* Rate of additions of a device, learned from its runs. */

/** Least entries of a run that says something about the rate; latency dominates smaller runs. */
const LEAST_ENTRIES = 2 ** 18;

/**
 * Bounds the effect of one run, whose time may be wrong: a coarse clock, or a GPU that other
 * programs use.
 */
const LARGEST_CHANGE = 8;

/** Additions per millisecond that the bound of the first submits assumes. */
const UNMEASURED_RATE = UNMEASURED_BOUND / SUBMIT_MS;

/**
 * Returns additions per millisecond that can be relied on: the prior of the adapter, or less if its
 * runs were slower.
 *
 * @param learned the result of `learnedRate`
 */
export const safeRate = (curve: CurveContext, adapter: AdapterDescription, learned: number | null): number =>
  Math.min(1e6 / gpuCoefficients(curve, adapter).digitNs, learned ?? Number.POSITIVE_INFINITY);

/**
 * Returns the rate after a run, in additions per millisecond. The last run that kept the device
 * busy counts, because without timestamps the first run looks slow: its submits are short, and each
 * waits for the one before. A run changes the rate by a factor of 8 at most.
 *
 * @param before additions per millisecond; null before any run was long enough
 * @param ms time of the walk, or the shortest known time that contains it
 */
export const learnedRate = (before: number | null, entries: number, ms: number): number | null => {
  if (entries < LEAST_ENTRIES || !(ms > 0 && ms < Number.POSITIVE_INFINITY)) return before;
  const known = before ?? UNMEASURED_RATE;
  return Math.min(known * LARGEST_CHANGE, Math.max(known / LARGEST_CHANGE, entries / ms));
};
