/**
 * Simulates the router on synthetic machines: its decisions, and their cost against the best
 * decisions. Deterministic.
 */

import { Random } from '../../../dev/oracle/known-bases.js';
import type { AdapterDescription } from '../../../src/api/device.js';
import type { CurveContext } from '../../../src/curves/curve.js';
import {
  type Coefficients,
  cpuCoefficients,
  cpuWork,
  gpuCoefficients,
  gpuWork,
  growingMs,
  trustOf,
} from '../../../src/msm/plan/cost.js';
import { Division } from '../../../src/msm/routing/division.js';
import {
  afterDivision,
  afterRun,
  decide,
  type Models,
  modelsOf,
  pacesOf,
  predict,
  type Stretch,
  type Works,
} from '../../../src/msm/routing/routing.js';
import { type Trace, workloadOf } from './trace.js';

/** A machine: the name of its GPU, its threads, and the real times of calls. */
export interface Machine {
  readonly about: string;
  readonly adapter: Pick<AdapterDescription, 'vendor' | 'architecture' | 'software'>;
  readonly workers: number;
  /** Times of BN254's G1, with nanoseconds a digit. */
  readonly gpu: { readonly fixedMs: number; readonly digitNs: number };
  /** Times on one thread. */
  readonly cpu: { readonly fixedMs: number; readonly digitNs: number };
  /**
   * Factor on both times if GPU and CPU work at once: they share memory, heat, and the thread that
   * feeds the GPU.
   */
  readonly together: number;
}

/**
 * Machines. Times are from published benchmarks or guessed; the simulation is about the router, not
 * about them.
 */
export const machines = {
  phone: {
    about: 'a phone with a good GPU (Adreno, 2^20 in 0.7 s) and four fast cores',
    adapter: { vendor: 'qualcomm', architecture: 'adreno-8xx', software: false },
    workers: 3,
    gpu: { fixedMs: 12, digitNs: 42 },
    cpu: { fixedMs: 2, digitNs: 390 },
    together: 1.1,
  },
  'weak phone': {
    about: 'a phone whose GPU is slower than its CPU (Pixel 10, 2^20: 3.7 s and 3.0 s)',
    adapter: { vendor: 'img-tec', architecture: 'd-series', software: false },
    workers: 3,
    gpu: { fixedMs: 15, digitNs: 221 },
    cpu: { fixedMs: 3, digitNs: 630 },
    together: 1.1,
  },
  laptop: {
    about: 'a laptop (M4 Pro, 2^20 in 0.18 s), eight threads',
    adapter: { vendor: 'apple', architecture: 'metal-3', software: false },
    workers: 7,
    gpu: { fixedMs: 8, digitNs: 11 },
    cpu: { fixedMs: 1.5, digitNs: 290 },
    together: 1.05,
  },
  'old laptop': {
    about: 'a laptop with an unknown GPU, a third as fast as the prior assumes',
    adapter: { vendor: '', architecture: '', software: false },
    workers: 3,
    gpu: { fixedMs: 14, digitNs: 75 },
    cpu: { fixedMs: 2.5, digitNs: 500 },
    together: 1.15,
  },
  desktop: {
    about: 'a desktop with a large GPU, sixteen threads',
    adapter: { vendor: 'nvidia', architecture: 'ada', software: false },
    workers: 15,
    gpu: { fixedMs: 4.5, digitNs: 3 },
    cpu: { fixedMs: 1.5, digitNs: 275 },
    together: 1.02,
  },
  'hot laptop': {
    about: 'a laptop whose GPU and CPU share memory and heat',
    adapter: { vendor: 'intel', architecture: 'xe', software: false },
    workers: 7,
    gpu: { fixedMs: 9, digitNs: 45 },
    cpu: { fixedMs: 1.5, digitNs: 330 },
    together: 1.5,
  },
  'software, unnamed': {
    about: 'two cores with a software GPU that hides its name (lavapipe in a browser without names)',
    adapter: { vendor: '', architecture: '', software: false },
    workers: 1,
    gpu: { fixedMs: 120, digitNs: 1500 },
    cpu: { fixedMs: 3, digitNs: 450 },
    together: 1.8,
  },
} as const satisfies Readonly<Record<string, Machine>>;

/** Milliseconds of a whole trace by routing. */
export interface Simulated {
  readonly cpu: number;
  readonly gpu: number;
  readonly auto: number;
  /** Best of the three for each call, in hindsight. */
  readonly best: number;
  /** Number of calls by route. */
  readonly routes: Readonly<Record<'cpu' | 'gpu' | 'both', number>>;
}

const truth = (curve: CurveContext, machine: Machine, of: 'gpu' | 'cpu'): Coefficients => {
  const shape = of === 'gpu' ? gpuCoefficients(curve, machine.adapter) : cpuCoefficients(curve);
  const { fixedMs, digitNs } = machine[of];
  return { fixedMs, digitNs, bucketNs: (shape.bucketNs / shape.digitNs) * digitNs, byteNs: shape.byteNs };
};

/** Simulates a divided call by the clock of the machine. */
const divided = (
  models: Models,
  works: Works,
  real: Readonly<Record<'gpu' | 'cpu', Coefficients>>,
  together: number,
  n: number,
  first: number,
): { readonly ms: number; readonly stretches: readonly Stretch[] } => {
  const paces = pacesOf(models, works, n, first);
  const division = new Division(n, paces, undefined, first);
  const sides = [
    { who: 'front' as const, of: 'gpu' as const, free: 0, isThrough: false },
    { who: 'back' as const, of: 'cpu' as const, free: 0, isThrough: false },
  ];
  const stretches: Stretch[] = [];
  for (;;) {
    const open = sides.filter(({ isThrough }) => !isThrough);
    if (open.length === 0) return { ms: sides.reduce((end, { free }) => Math.max(end, free), 0), stretches };
    const next = open.reduce((first, each) => (each.free < first.free ? each : first));
    division.done(next.who, next.free);
    const drawn = division.draw(next.who, next.free);
    if (drawn === null) {
      next.isThrough = true;
      continue;
    }
    const share = (drawn.to - drawn.from) / n;
    const { digits, buckets, bytes } = works[next.of];
    // fewer scalars have narrower windows
    const work = { digits: share * digits, buckets: Math.sqrt(share) * buckets, bytes: share * bytes };
    const ms = together * (real[next.of].fixedMs + growingMs(real[next.of], work));
    stretches.push({ backend: next.of, work, ms });
    next.free += ms;
  }
};

/** Rate of outliers, which take several times as long because something else ran. */
const OUTLIERS = { oneOf: 40, times: 5 } as const;

/** Relative noise of all other calls. */
const NOISE = 0.08;

/** Simulates one trace on one machine; deterministic by seed. */
export const simulate = (curve: CurveContext, machine: Machine, trace: Trace, seed: number): Simulated => {
  const random = new Random(seed);
  const real = { gpu: truth(curve, machine, 'gpu'), cpu: truth(curve, machine, 'cpu') };
  const { adapter } = machine;
  let models = modelsOf(gpuCoefficients(curve, adapter), cpuCoefficients(curve), trustOf(adapter));
  const all = { cpu: 0, gpu: 0, auto: 0, best: 0 };
  const routes = { cpu: 0, gpu: 0, both: 0 };
  for (const call of trace) {
    const load = workloadOf(call, curve);
    const works: Works = { gpu: gpuWork(curve, [load], 2 ** 30, null), cpu: cpuWork(curve, [load], machine.workers) };
    const prediction = predict(models, works, true);
    const decision = decide(models, works, prediction, true);
    const { first } = decision;
    const route = decision.route === 'compile' ? 'cpu' : decision.route;
    routes[route]++;
    const both = divided(models, works, real, machine.together, load.n, first);
    const luck = 1 + NOISE * (random.below(2001) / 1000 - 1);
    const mishap = random.below(OUTLIERS.oneOf) === 0 ? OUTLIERS.times : 1;
    const took = {
      cpu: luck * (real.cpu.fixedMs + growingMs(real.cpu, works.cpu)),
      gpu: luck * (real.gpu.fixedMs + growingMs(real.gpu, works.gpu)),
      both: luck * both.ms,
    };
    all.cpu += took.cpu;
    all.gpu += took.gpu;
    all.auto += took[route];
    all.best += Math.min(took.cpu, took.gpu, took.both);
    // the outlier is visible to the router, but not counted, because it would have hit any route
    const seen = ({ ms, ...stretch }: Stretch): Stretch => ({ ...stretch, ms: mishap * ms });
    models =
      route === 'both'
        ? afterDivision(models, both.stretches.map(seen), prediction, mishap * took.both)
        : afterRun(models, seen({ backend: route, work: works[route], ms: took[route] }));
  }
  return { ...all, routes };
};
