/**
 * Predicts the time of an MSM on GPUs that nobody here has, from what their compilers say of the
 * walk and from the plan. Nothing is measured; docs/reference/performance.md has the results.
 */
import { bn254 } from '../../src/curves/bn254.js';
import { type CurveContext, curveContext } from '../../src/curves/curve.js';
import { divstepConstants } from '../../src/field/divsteps.js';
import { defaultBudget, deviceClassOf } from '../../src/msm/plan/device-profiles.js';
import { type Plan, planMsm } from '../../src/msm/plan/planner.js';
import { fullWorkload } from '../../src/msm/plan/workload.js';
import { levelTasks } from '../../src/msm/stages/partition.js';
import type { Cycles } from './nvidia-sass.js';

/** Cycles of the walk for one warp. */
export interface WalkCycles {
  /** One product of a slot with all around it: a turn of the walk's loop. */
  readonly turn: Cycles;
  /** The inversion that the slots of a thread share in a step. */
  readonly inversion: Cycles;
  /** Warps that a scheduler has room for, by registers. */
  readonly warps: number;
}

/** A card, by its maker's data. */
export interface Card {
  readonly title: string;
  /** Units that issue instructions of one warp at a time. */
  readonly schedulers: number;
  /** Threads of a warp. */
  readonly lanes: number;
  readonly gigahertz: number;
  /** Bytes of the last cache before memory. */
  readonly cacheBytes: number;
  /** Rates in GB/s, which are bytes a nanosecond. */
  readonly cacheRate: number;
  readonly memoryRate: number;
}

/** A walk over a sorted stream. */
export interface WalkShape {
  readonly entries: number;
  readonly tasks: number;
  readonly slots: number;
  readonly leastThreads: number;
  /** Coordinates of the sums, and whether the points have the same. */
  readonly form: 'affine' | 'xyzz, affine points' | 'xyzz';
}

/**
 * Turns of the walk's loop for one addition: the phases FORWARD, INVERSES twice, SLOPES, X, Y; the
 * products of an addition in extended coordinates.
 */
const TURNS: Readonly<Record<WalkShape['form'], number>> = { affine: 6, 'xyzz, affine points': 10, xyzz: 14 };

/** Private memory of a thread for each slot, and what it reads and writes of it for an addition. */
const SLOT_BYTES = 112;
const PRIVATE_TRAFFIC = 1300;

/** Bytes of points and entries that an addition reads from memory. */
const POINT_TRAFFIC: typeof TURNS = { affine: 150, 'xyzz, affine points': 150, xyzz: 280 };

/** Bytes that decompose and a pass of the sort move for each entry. */
const SORT_TRAFFIC = 40;

/** Time from one dispatch to the next, in ms. */
const DISPATCH_MS = 0.01;

/**
 * Returns the time of a walk, in ms: the longest of three. A thread alone needs its steps one after
 * the other. The warps of a scheduler together need the busiest pipe. All need the traffic of their
 * private memory, at the rate of the cache as far as it has room.
 */
export const walkMs = (card: Card, { turn, inversion, warps }: WalkCycles, walk: WalkShape): number => {
  const { entries, tasks, slots, leastThreads, form } = walk;
  if (entries === 0) return 0;
  const threads = Math.min(tasks, Math.max(Math.ceil(tasks / slots), leastThreads));
  const used = Math.ceil(tasks / threads);
  const steps = Math.ceil(entries / tasks);
  const ofScheduler = threads / card.lanes / card.schedulers;
  const isAffine = form === 'affine';
  const stepCycles = (of: keyof Cycles): number => TURNS[form] * used * turn[of] + (isAffine ? inversion[of] : 0);
  const waves = Math.max(1, ofScheduler / warps);
  const cycles = steps * Math.max(stepCycles('alone') * waves, stepCycles('bound') * ofScheduler);
  const resident = Math.min(threads, warps * card.schedulers * card.lanes);
  const beyond = Math.max(0, 1 - card.cacheBytes / (resident * used * SLOT_BYTES));
  const ofPrivate = (1 - beyond) / card.cacheRate + beyond / card.memoryRate;
  const ofPoints = POINT_TRAFFIC[form] / card.memoryRate;
  const traffic = entries * ((isAffine ? PRIVATE_TRAFFIC * ofPrivate : 0) + ofPoints);
  return Math.max(cycles / card.gigahertz, traffic) / 1e6;
};

/**
 * Returns the walks of a plan: for each group its stream and the carries of every level, as if all
 * were present, and those of the reduction.
 */
export const walksOf = (plan: Plan): WalkShape[] => {
  const { walkerSlots: slots, walkerLeastThreads: leastThreads, walkerEntriesPerTask, combineBits } = plan.tuning;
  const { walkerCoordinates } = plan.tuning;
  const shape = (entries: number, tasks: number, isFirst = false): WalkShape => {
    const form = walkerCoordinates === 'xyzz' && isFirst ? 'xyzz, affine points' : walkerCoordinates;
    return { entries, tasks, slots, leastThreads, form };
  };
  const ofGroup = (_: unknown, group: number): WalkShape[] => {
    const windows = Math.min(plan.windowsPerGroup, plan.windows - group * plan.windowsPerGroup);
    const entries = plan.n * plan.blocks * windows;
    const most = Math.min(plan.levelTasks[0] as number, Math.ceil(entries / walkerEntriesPerTask));
    return levelTasks(most, combineBits).map((tasks, i, all) =>
      shape(i === 0 ? entries : 2 * (all[i - 1] as number), tasks, i === 0),
    );
  };
  return [
    ...Array.from({ length: plan.groups }, ofGroup).flat(),
    ...plan.reduce.walks.map(({ entries, tasks }) => shape(entries, tasks)),
  ];
};

const portable = {
  maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupSizeX: 256,
  maxComputeWorkgroupStorageSize: 16_384,
  maxStorageBufferBindingSize: 2 ** 27,
  maxBufferSize: 2 ** 28,
};

/** Rate of a GPU in earlier runs, in additions a ms: enough for submits of any size. */
const FAST = 1e6;

/** Returns the plan of n scalars on an adapter, with the default budget. */
export const planFor = (curve: CurveContext, vendor: string, architecture: string, n: number): Plan => {
  const { knobs, isWide, product } = deviceClassOf({ vendor, architecture });
  return planMsm(
    fullWorkload(n, curve),
    curve,
    { ...portable, knobs, isWide, product, additionsPerMs: FAST },
    defaultBudget({ vendor, architecture }),
    {},
  );
};

/** Returns the predicted time of an MSM with resident scalars, in ms. */
export const predictedMs = (card: Card, cycles: WalkCycles, plan: Plan): number => {
  const walks = walksOf(plan).reduce((sum, walk) => sum + walkMs(card, cycles, walk), 0);
  const entries = plan.n * plan.blocks * plan.windows;
  const sort = (entries * SORT_TRAFFIC * (1 + plan.sortPasses.length)) / card.memoryRate / 1e6;
  return walks + sort + plan.dispatches * DISPATCH_MS;
};

/** Batches of divsteps of an inversion on BN254. */
export const batches = divstepConstants(curveContext(bn254).field).batches;
