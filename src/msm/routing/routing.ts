/** Which backend computes a call: by what either is expected to take, and what its runs took. */
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

/** What a call is on either backend. */
export type Works = Readonly<Record<BackendName, Work>>;

/** What is known of a machine. */
export interface Models extends Readonly<Record<BackendName, CostModel>> {
  /** How many times as long as either half would have taken alone divided calls took. */
  readonly together: readonly number[];
  /** Calls since the last divided one. */
  readonly undivided: number;
  /** How the GPU's prior was come by. */
  readonly trust: Trust;
  /** Milliseconds of all calls that taught something, and of trials of the GPU. */
  readonly spentMs: number;
  readonly triedMs: number;
}

/** Weight of a prior, in runs: less than a run where the adapter is software, which is as fast as the machine has cores. */
const THOUGHT_OF = { known: undefined, guessed: 1, software: 0.5 } as const;

/** Before any call. */
export const modelsOf = (gpu: Coefficients, cpu: Coefficients, trust: Trust = 'known'): Models => ({
  gpu: { prior: gpu, runs: [], thought: THOUGHT_OF[trust] },
  cpu: { prior: cpu, runs: [] },
  together: [],
  undivided: 0,
  ...{ trust, spentMs: 0, triedMs: 0 },
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
export const routeOf = ({ gpuMs, cpuMs, bothMs }: Prediction): BackendName | 'both' => {
  const alone = Math.min(gpuMs, cpuMs);
  if (bothMs !== null && bothMs < WORTH * alone) return 'both';
  return cpuMs <= gpuMs ? 'cpu' : 'gpu';
};

/** Runs after which a GPU is measured. */
const MEASURED = 2;

/** Share of the scalars that a GPU of unknown speed draws first of a divided call; the CPU computes meanwhile. */
const CAUTIOUS = 1 / 32;

/** It draws at most so many times as much as it was measured with. */
const STEP = 2;

/** Shares of the time of all calls that trials may take: until the GPU is measured, and after that. */
const [TRIALS, LATER_TRIALS] = [1 / 4, 1 / 32];

/** The largest share of the scalars that a trial has; and how many times what is fixed it is to take beside that, to say anything of the rest. */
const [MOST_TRIAL, TELLING] = [1 / 4, 2];

/** Where a measured GPU takes so many times as long as the CPU, it is tried no more. */
const HOPELESS = 2;

/** Calls took so many milliseconds before anything is compiled for a trial alone. */
const COMPILES_AFTER_MS = 2000;

/** The backend chosen for a call. */
export interface Decision {
  /** `trial`: the CPU, after a part on the GPU, which is measured so; `compile`: the CPU, and the GPU is to be made ready for a trial. */
  readonly route: BackendName | 'both' | 'trial' | 'compile';
  /** Largest share of the scalars that the GPU draws first. */
  readonly first: number;
}

/** The part that a trial may have; 0: none is due. */
const trialOf = ({ gpu, spentMs, triedMs }: Models, works: Works, { gpuMs, cpuMs }: Prediction): number => {
  const isMeasured = gpu.runs.length >= MEASURED;
  if (gpu.runs.length >= KNOWN || (isMeasured && gpuMs > HOPELESS * cpuMs)) return 0;
  const { factor, fixedMs } = fitted(gpu);
  const wholeMs = factor * growingMs(gpu.prior, works.gpu);
  const mayMs = (isMeasured ? LATER_TRIALS : TRIALS) * spentMs - triedMs - fixedMs;
  const ms = Math.min(MOST_TRIAL * wholeMs, mayMs);
  return ms >= TELLING * fixedMs ? ms / wholeMs : 0;
};

/** Share of the scalars that the GPU may draw first: little more than it was ever measured with. */
const firstOf = ({ gpu }: Models, works: Works): number => {
  if (gpu.runs.length >= KNOWN) return 1;
  const largest = gpu.runs.reduce((most, run) => Math.max(most, run.growingMs), 0);
  return Math.min(1, Math.max(CAUTIOUS, (STEP * largest) / growingMs(gpu.prior, works.gpu)));
};

/**
 * Decides where nothing is fixed. An adapter that says it is software begins on the CPU, whatever is thought of it, and is tried in parts; one that is
 * only guessed at divides its first calls.
 *
 * @param isReady whether all is compiled that a trial needs
 */
export const decide = (models: Models, works: Works, prediction: Prediction, isReady: boolean): Decision => {
  const { gpu, trust, spentMs } = models;
  const fastest = routeOf(prediction);
  if (trust === 'known' || (trust === 'guessed' && fastest === 'cpu')) return { route: fastest, first: 1 };
  if (trust === 'guessed') {
    const first = firstOf(models, works);
    return { route: first < 1 ? 'both' : fastest, first };
  }
  if (gpu.runs.length >= MEASURED && fastest !== 'cpu') return { route: fastest, first: 1 };
  const first = trialOf(models, works, prediction);
  if (first > 0 && isReady) return { route: 'trial', first };
  return { route: first === 0 || spentMs < COMPILES_AFTER_MS ? 'cpu' : 'compile', first: 1 };
};

/** What a backend computed at a stretch. */
export interface Stretch {
  readonly backend: BackendName;
  readonly work: Work;
  readonly ms: number;
}

/** The models after a call that one of the two computed. */
export const afterRun = (models: Models, { backend, work, ms }: Stretch): Models => ({
  ...models,
  [backend]: learned(models[backend], work, ms),
  undivided: models.undivided + 1,
  spentMs: models.spentMs + ms,
});

/** The models after a trial on the GPU. @param ms what it took; Infinity where it failed, and no other is to be made */
export const afterTrial = (models: Models, work: Work | null, ms: number): Models => ({
  ...models,
  ...(work !== null && { gpu: learned(models.gpu, work, ms) }),
  triedMs: models.triedMs + ms,
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
  const known = { ...models, undivided: 0, spentMs: models.spentMs + ms };
  if (stretches.some(isNew))
    return { ...stretches.filter(isNew).reduce(afterRun, known), undivided: 0, spentMs: known.spentMs };
  if (bothMs === null) return known;
  return { ...known, together: [...models.together, (togetherOf(models) * ms) / bothMs].slice(-KEPT) };
};

/** Paces expected of both in a divided call of n scalars. A GPU that is to draw little at first is expected to be no faster than the CPU. */
export const pacesOf = (models: Models, works: Works, n: number, first: number): Readonly<Record<Half, Pace>> => {
  const [front, back] = [paceOf(models.gpu, works.gpu, n), paceOf(models.cpu, works.cpu, n)];
  return { front: first < 1 ? { ...front, rate: Math.min(front.rate, back.rate) } : front, back };
};

/** What is expected of a backend that draws parts of n scalars: its buckets are due with each draw. */
const paceOf = (model: CostModel, work: Work, n: number): Pace => {
  const { factor, fixedMs } = fitted(model);
  const buckets = factor * growingMs(model.prior, { digits: 0, buckets: work.buckets, bytes: 0 });
  const rest = factor * growingMs(model.prior, { ...work, buckets: 0 });
  // a draw is smaller, and takes fewer buckets
  return { fixedMs: fixedMs + buckets / 2, rate: n / Math.max(rest, 1e-6) };
};
