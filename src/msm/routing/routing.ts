/** Chooses the backend of a call, by the expected time on each and by the times of earlier runs. */

import type { Sharing } from '../../api/calls.js';
import type { Prediction } from '../../api/run-record.js';
import {
  type Coefficients,
  type CostModel,
  expectation,
  fitted,
  growingMs,
  learned,
  median,
  type Work,
} from '../plan/cost.js';
import type { Trust } from '../plan/device-profiles.js';
import type { Half, Pace } from './division.js';

export type BackendName = 'gpu' | 'cpu';

/** Work of a call on each backend. */
export type Works = Readonly<Record<BackendName, Work>>;

/** Models of the backends of a machine. */
export interface Models extends Readonly<Record<BackendName, CostModel>> {
  /** Measured times of divided calls, as multiples of the time that either half takes alone. */
  readonly together: readonly number[];
  /** Number of calls since the last divided one. */
  readonly undivided: number;
  /** Trust in the prior of the GPU. */
  readonly trust: Trust;
}

/** Weight of a guessed prior, in runs. */
const GUESSED_WEIGHT = 1;

/** Returns the models before any call. */
export const modelsOf = (gpu: Coefficients, cpu: Coefficients, trust: Trust = 'known'): Models => ({
  gpu: { prior: gpu, runs: [], thought: trust === 'guessed' ? GUESSED_WEIGHT : undefined },
  cpu: { prior: cpu, runs: [] },
  together: [],
  undivided: 0,
  trust,
});

/** Returns the work of a fraction `share` of the scalars. Its number of buckets is that of all. */
const partOf = ({ digits, buckets, bytes }: Work, share: number): Work => ({
  digits: share * digits,
  buckets,
  bytes: share * bytes,
});

/**
 * Expected time of a divided call, as a multiple of the time of its halves. The halves share
 * memory, and one waits for the last draw of the other.
 */
const TOGETHER = 1.05;

/** Weight of `TOGETHER`, in divided calls. */
const TOGETHER_WEIGHT = 3;

/** Number of divided calls that are kept. */
const KEPT = 8;

/** A backend with this many runs is measured well enough to be trusted. */
const KNOWN = 8;

/**
 * One sample of a divided call expires per this many undivided calls, so division is tried again.
 */
const FORGOTTEN = 3;

const togetherOf = (models: Models): number =>
  median([
    ...Array<number>(TOGETHER_WEIGHT).fill(TOGETHER),
    ...models.together.slice(Math.floor(models.undivided / FORGOTTEN)),
  ]);

/** A call is divided if that is expected to take less than this fraction of the faster backend. */
const WORTH = 0.97;

/** Predicts the time of a call. @param divides true if both backends can compute at once */
export const predict = (models: Models, works: Works, divides: boolean): Prediction => {
  const [onGpu, onCpu] = [expectation(models.gpu), expectation(models.cpu)];
  const [gpuMs, cpuMs] = [onGpu(works.gpu), onCpu(works.cpu)];
  if (!divides) return { gpuMs, cpuMs, bothMs: null };
  /** Returns the time of each backend if the GPU has `share` of the scalars. */
  const divided = (share: number): readonly [gpu: number, cpu: number] => [
    onGpu(partOf(works.gpu, share)),
    onCpu(partOf(works.cpu, 1 - share)),
  ];
  // bisects for the share with which both end together
  let [low, high] = [0, 1];
  for (let i = 0; i < 12; i++) {
    const share = (low + high) / 2;
    const [gpu, cpu] = divided(share);
    if (gpu < cpu) low = share;
    else high = share;
  }
  return { gpuMs, cpuMs, bothMs: togetherOf(models) * Math.max(...divided((low + high) / 2)) };
};

/** Returns the route with the shortest predicted time. */
export const routeOf = ({ gpuMs, cpuMs, bothMs }: Prediction): BackendName | 'both' => {
  const alone = Math.min(gpuMs, cpuMs);
  if (bothMs !== null && bothMs < WORTH * alone) return 'both';
  return cpuMs <= gpuMs ? 'cpu' : 'gpu';
};

/** Fraction of a divided call that a GPU of unknown speed draws first, while the CPU computes. */
const CAUTIOUS = 1 / 32;

/** A GPU of unknown speed draws at most this many times as much as its largest run. */
const STEP = 2;

/**
 * Time that a GPU takes to compile, in ms: 1.1 s on an H200, and seconds in browsers. A call that
 * the CPU computes in less does not wait for it.
 */
const COMPILING_MS = 1000;

/** The backend chosen for a call. */
export interface Decision {
  /** `compile`: the CPU computes, and kernels are compiled for later calls. */
  readonly route: BackendName | 'both' | 'compile';
  /** Largest fraction of the scalars that the GPU draws first. */
  readonly first: number;
}

/** Returns the fraction of the scalars that the GPU draws first: `STEP` times its largest run. */
const firstOf = ({ gpu }: Models, works: Works): number => {
  if (gpu.runs.length >= KNOWN) return 1;
  const largest = gpu.runs.reduce((most, run) => Math.max(most, run.growingMs), 0);
  return Math.min(1, Math.max(CAUTIOUS, (STEP * largest) / growingMs(gpu.prior, works.gpu)));
};

/**
 * Decides the route of a call. With a known prior the fastest route is taken. With a guessed prior
 * the first calls are divided. Both begin on the CPU while kernels are compiled. A software adapter,
 * which may replace a lost GPU, computes nothing: it has the cores of the CPU.
 *
 * @param isReady true if the kernels are compiled
 */
export const decide = (models: Models, works: Works, prediction: Prediction, isReady: boolean): Decision => {
  const { trust } = models;
  if (trust === 'software') return { route: 'cpu', first: 1 };
  const fastest = routeOf(prediction);
  const mayWait = isReady || fastest === 'cpu' || prediction.cpuMs > COMPILING_MS;
  if (!mayWait) return { route: 'compile', first: 1 };
  if (trust === 'known' || fastest === 'cpu') return { route: fastest, first: 1 };
  const first = firstOf(models, works);
  return { route: first < 1 ? 'both' : fastest, first };
};

/** Work that a backend computed without a pause, and its time. */
export interface Stretch {
  readonly backend: BackendName;
  readonly work: Work;
  readonly ms: number;
}

/** Returns the models after a call that one backend computed. */
export const afterRun = (models: Models, { backend, work, ms }: Stretch): Models => ({
  ...models,
  [backend]: learned(models[backend], work, ms),
  undivided: models.undivided + 1,
});

/**
 * Returns the models after a divided call. For a backend with few runs, its half counts as a run of
 * its own. If both have enough runs, the call shows how much the halves slow each other down.
 */
export const afterDivision = (
  models: Models,
  stretches: readonly Stretch[],
  { bothMs }: Prediction,
  ms: number,
): Models => {
  const isNew = ({ backend }: Stretch): boolean => models[backend].runs.length < KNOWN;
  const known = { ...models, undivided: 0 };
  if (stretches.some(isNew)) return { ...stretches.filter(isNew).reduce(afterRun, known), undivided: 0 };
  if (bothMs === null) return known;
  return { ...known, together: [...models.together, (togetherOf(models) * ms) / bothMs].slice(-KEPT) };
};

/**
 * Returns the expected paces of the halves of a call of n scalars. A GPU that draws little at first
 * is expected to be no faster than the CPU.
 */
export const pacesOf = (models: Models, works: Works, n: number, first: number): Readonly<Record<Half, Pace>> => {
  const [front, back] = [paceOf(models.gpu, works.gpu, n), paceOf(models.cpu, works.cpu, n)];
  return { front: first < 1 ? { ...front, rate: Math.min(front.rate, back.rate) } : front, back };
};

/** Returns the expected pace of a backend that draws from n scalars. Each draw has all buckets. */
const paceOf = (model: CostModel, work: Work, n: number): Pace => {
  const { factor, fixedMs } = fitted(model);
  const buckets = factor * growingMs(model.prior, { digits: 0, buckets: work.buckets, bytes: 0 });
  const rest = factor * growingMs(model.prior, { ...work, buckets: 0 });
  // a draw is smaller than the call, and its windows are narrower, with about half of the buckets
  return { fixedMs: fixedMs + buckets / 2, rate: n / Math.max(rest, 1e-6) };
};

/** Settings that limit the workers of the CPU in favour of other work. */
export interface CapOptions extends Pick<Sharing, 'yieldWhile'> {
  readonly sidePool: number;
  readonly throttle: boolean;
}

/** Returns a function that asks once and then returns the same answer. */
const onceOf = (ask: () => number): (() => number) => {
  let told: number | null = null;
  return () => {
    told ??= ask();
    return told;
  };
};

/**
 * Returns a function that returns how many CPU workers may compute. The number is `sidePool` while
 * the GPU has work of other calls or `yieldWhile` returns true, and else unlimited. Without
 * `throttle` the first answer holds for the whole call.
 *
 * @param isGpuBusy true while the GPU has work of equal or higher priority for other calls
 */
export const workerCap = ({ sidePool, throttle, yieldWhile }: CapOptions, isGpuBusy: () => boolean): (() => number) => {
  const isBusy = (): boolean => isGpuBusy() || yieldWhile?.() === true;
  const cap = (): number => (isBusy() ? sidePool : Number.POSITIVE_INFINITY);
  return throttle ? cap : onceOf(cap);
};

/* Request coalescing: selects the waiting small MSMs that are worth computing as one batch. */

/** Maximum number of calls in a batch. */
const MOST_TOGETHER = 64;

/** A batch takes at most this many times as long as its first call alone. */
const MOST_TIMES = 4;

/** Expected time of a call on its backend, in milliseconds. */
export interface ExpectedTime {
  /** Time that every call takes, however small. */
  readonly fixedMs: number;
  /** Time beyond the fixed part. */
  readonly growingMs: number;
}

/**
 * Selects the waiting calls to compute together with the first. A call that joins delays each
 * call of the batch by its growing time. It saves its fixed time, for itself and for every call
 * behind it. It joins if the delay in all is not more than the saving in all. So of two calls only
 * a small one joins. Of many waiting calls a larger one joins as well, because many gain.
 *
 * @param others waiting calls in the order in which they would start
 * @returns indices of the selected calls
 */
export const worthCoalescing = (first: ExpectedTime, others: readonly ExpectedTime[]): number[] => {
  const chosen: number[] = [];
  let left = (MOST_TIMES - 1) * (first.fixedMs + first.growingMs);
  for (const [i, { fixedMs, growingMs }] of others.entries()) {
    const joined = chosen.length + 1;
    if (joined === MOST_TOGETHER) break;
    const isWorse = joined * growingMs > (others.length - i) * fixedMs;
    if (isWorse || growingMs > left) continue;
    left -= growingMs;
    chosen.push(i);
  }
  return chosen;
};
