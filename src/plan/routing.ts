/** Which backend computes a call: by what either is expected to take, and what its runs took. */
import type { Prediction } from '../api.js';
import {
  type Coefficients,
  type CostModel,
  expectation,
  fitted,
  growingMs,
  learned,
  median,
  type Work,
} from './cost.js';
import type { Pace } from './division.js';

export type Backend = 'gpu' | 'cpu';

/** What a call is on either backend. */
export type Works = Readonly<Record<Backend, Work>>;

/** What is known of a machine. */
export interface Models extends Readonly<Record<Backend, CostModel>> {
  /** How many times as long as either half would have taken alone divided calls took. */
  readonly together: readonly number[];
  /** Calls since the last divided one. */
  readonly undivided: number;
}

/** Before any call. */
export const modelsOf = (gpu: Coefficients, cpu: Coefficients): Models => ({
  gpu: { prior: gpu, runs: [] },
  cpu: { prior: cpu, runs: [] },
  together: [],
  undivided: 0,
});

/** A part `share` of the scalars: as many buckets, and so much of the rest. */
const partOf = ({ digits, buckets, bytes }: Work, share: number): Work => ({
  digits: share * digits,
  buckets,
  bytes: share * bytes,
});

/** A divided call is expected to take so much more than its halves: neither has the machine to itself, and there is a last draw that one waits for. */
const TOGETHER = 1.05;

/** What that counts for, in calls, and how many calls count. */
const [THOUGHT, KEPT] = [3, 8];

/** A backend of which so many runs are known is known. */
const KNOWN = 8;

/** So many calls that are not divided make one that was divided be forgotten: what went wrong once is tried again. */
const FORGOTTEN = 3;

const togetherOf = (models: Models): number =>
  median([
    ...Array<number>(THOUGHT).fill(TOGETHER),
    ...models.together.slice(Math.floor(models.undivided / FORGOTTEN)),
  ]);

/** What division has to save to be worth it. */
const WORTH = 0.97;

/**
 * @param divides whether both can compute at the same time
 */
export const predict = (models: Models, works: Works, divides: boolean): Prediction => {
  const [onGpu, onCpu] = [expectation(models.gpu), expectation(models.cpu)];
  const [gpuMs, cpuMs] = [onGpu(works.gpu), onCpu(works.cpu)];
  if (!divides) return { gpuMs, cpuMs, bothMs: null };
  /** What either takes if the GPU has such a share of the scalars. */
  const divided = (share: number): readonly [gpu: number, cpu: number] => [
    onGpu(partOf(works.gpu, share)),
    onCpu(partOf(works.cpu, 1 - share)),
  ];
  // with the fair one both end together
  let [low, high] = [0, 1];
  for (let i = 0; i < 12; i++) {
    const share = (low + high) / 2;
    const [gpu, cpu] = divided(share);
    if (gpu < cpu) low = share;
    else high = share;
  }
  return { gpuMs, cpuMs, bothMs: togetherOf(models) * Math.max(...divided((low + high) / 2)) };
};

/** What is expected to be the fastest. */
export const routeOf = ({ gpuMs, cpuMs, bothMs }: Prediction): Backend | 'both' => {
  const alone = Math.min(gpuMs, cpuMs);
  if (bothMs !== null && bothMs < WORTH * alone) return 'both';
  return cpuMs <= gpuMs ? 'cpu' : 'gpu';
};

/** What a backend computed at a stretch. */
export interface Stretch {
  readonly backend: Backend;
  readonly work: Work;
  readonly ms: number;
}

/** The models after a call that one of the two computed. */
export const afterRun = (models: Models, { backend, work, ms }: Stretch): Models => ({
  ...models,
  [backend]: learned(models[backend], work, ms),
  undivided: models.undivided + 1,
});

/**
 * The models after a divided call. What it tells of a backend of which little is known counts as if it had been alone; else it tells how much they
 * are in each other's way.
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

/** What is expected of a backend that draws parts of n scalars: its buckets are due with each draw. */
export const paceOf = (model: CostModel, work: Work, n: number): Pace => {
  const { factor, fixedMs } = fitted(model);
  const buckets = factor * growingMs(model.prior, { digits: 0, buckets: work.buckets, bytes: 0 });
  const rest = factor * growingMs(model.prior, { ...work, buckets: 0 });
  // a draw is smaller, and takes fewer buckets
  return { fixedMs: fixedMs + buckets / 2, rate: n / Math.max(rest, 1e-6) };
};
