/** What an MSM takes on the GPU and on the CPU: a few coefficients for each, which its runs correct. */
import type { AdapterDescription } from '../../api/device.js';
import type { CurveContext } from '../../curves/curve.js';
import { deviceClassOf, type Trust } from './device-profiles.js';

/** What there is to do. */
export interface Work {
  /** Digits that are not zero: an addition each. */
  readonly digits: number;
  readonly buckets: number;
  /** To be uploaded. */
  readonly bytes: number;
}

export interface Coefficients {
  /** Milliseconds of a call with nothing to do. */
  readonly fixedMs: number;
  /** Nanoseconds. */
  readonly digitNs: number;
  readonly bucketNs: number;
  readonly byteNs: number;
}

/** What all that grows takes, in milliseconds. */
export const growingMs = ({ digitNs, bucketNs, byteNs }: Coefficients, { digits, buckets, bytes }: Work): number =>
  (digitNs * digits + bucketNs * buckets + byteNs * bytes) / 1e6;

/** Nanoseconds of an addition on one thread of the CPU: by the limbs of 29 bits of a coordinate, whose products are most of it (docs/performance.md, "On the CPU"). */
export const additionNs = ({ p, coordinates: { degree } }: CurveContext): number => {
  const limbs = Math.ceil((p.toString(2).length + 5) / 29);
  return 6.3 * limbs * limbs * (degree === 1 ? 1 : 3.4);
};

/** Of BN254's G1, to which what is known of GPUs is scaled. */
const REFERENCE_NS = 6.3 * 81;

/** A bucket is two additions on the CPU. */
export const CPU_BUCKET_ADDITIONS = 2;

/** On the GPU as many as `defaultWindowBits` thinks. */
const GPU_BUCKET_ADDITIONS = 4.3;

/** So many times as long it takes on BigInts: measured at n = 512, 4 to 10. */
const BIGINT_TIMES = 8;

/**
 * Of a call on one thread of the CPU. What is fixed is a doubling for each bit, alone.
 *
 * @param isWasm whether there is WebAssembly
 */
export const cpuCoefficients = (curve: CurveContext, isWasm = true): Coefficients => {
  const digitNs = (isWasm ? 1 : BIGINT_TIMES) * additionNs(curve);
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

/** A run, as the model sees it: what it should have taken beyond what is fixed, and what it took. */
interface Run {
  readonly growingMs: number;
  readonly ms: number;
}

/** What is expected of a backend, and how its runs differed from that. */
export interface CostModel {
  /** Before any run. */
  readonly prior: Coefficients;
  /** The last ones. */
  readonly runs: readonly Run[];
  /** Weight of the prior, in runs, where it is less than usual. */
  readonly thought?: number | undefined;
}

/** Runs that count. */
const KEPT = 8;

/** What the prior counts for, in runs: one run alone changes nothing, two neither, and a few do. */
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

/** Where half of the weight is below. */
const weighedMedian = (values: readonly Weighed[]): number => {
  const sorted = [...values].sort((left, right) => left.value - right.value);
  let left = sorted.reduce((sum, { weight }) => sum + weight, 0) / 2;
  for (const { value, weight } of sorted) {
    left -= weight;
    if (left <= 0) return value;
  }
  return Number.NaN;
};

/** Rounds after which nothing moves any more. */
const ROUNDS = 6;

/** A clock that stands still is no reason to think that anything is for nothing. */
const LEAST_FACTOR = 0.02;

/**
 * How many times what was thought the growing part takes, and what is fixed: in turns, each the median of what the runs say of it, and what was thought. A
 * run says of either as much as that is of what it takes; so it is the least sum of relative differences that is looked for, which no outlier moves far.
 */
export const fitted = ({ prior, runs, thought }: CostModel): { readonly factor: number; readonly fixedMs: number } => {
  const weight = thought ?? THOUGHT;
  // a GPU that is other than guessed is so in all; else what grows would be taken for fixed where runs are small
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

/** What a model expects of works, in milliseconds. */
export const expectation = (model: CostModel): ((work: Work) => number) => {
  const { factor, fixedMs } = fitted(model);
  return (work) => fixedMs + factor * growingMs(model.prior, work);
};

/** The model after a run. */
export const learned = (model: CostModel, work: Work, ms: number): CostModel => ({
  ...model,
  runs: [...model.runs, { growingMs: growingMs(model.prior, work), ms }].slice(-KEPT),
});
