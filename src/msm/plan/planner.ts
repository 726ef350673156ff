import type { Tuning } from '../../api/tuning.js';
import type { CurveContext } from '../../curves/curve.js';
import { badArgument } from '../../errors.js';
import { itemsPerBindingStep, jobBytes, LEAST_BUFFER_BYTES, MAX_GROUPS } from '../../shaders/limits.js';
import type { Instrument } from '../instrument.js';
import { Vector } from '../stages/decompose.js';
import { ENTRY_WORDS } from '../stages/entry.js';
import { Level } from '../stages/level.js';
import { levelTasks } from '../stages/partition.js';
import { type ReduceShape, reduceShape } from '../stages/reduce.js';
import { SORT_MAX_BITS, type SortPass, sortPasses } from '../stages/sort.js';
import { accountsBytes } from './accounts.js';
import type { DeviceProfile } from './device-defaults.js';
import { type Knobs, resolveTuning } from './tuning.js';
import { reduceAdditions } from './window-bits.js';
import { windowCount } from './window-count.js';
import { blocksOf, oneOf, shareOf, type Workload } from './workload.js';

/** Limits of a device that sizes depend on. */
export interface PlanLimits extends DeviceProfile {
  readonly maxStorageBufferBindingSize: number;
  readonly maxBufferSize: number;
}

/**
 * Bytes of the scratch buffers of one MSM, by name, and of `accounts` and `bitSums`, which it returns. An instrument adds buffers
 * of its own.
 */
export type ScratchSizes = Readonly<Record<ScratchName, number>>;
export type ScratchName =
  | 'scalars'
  | 'vectors'
  | 'picks'
  | 'entriesA'
  | 'entriesB'
  | 'counts'
  | 'totals'
  | 'levels'
  | 'buckets'
  | 'carriesA'
  | 'partialsA'
  | 'carriesB'
  | 'partialsB'
  | 'splitSums'
  | 'accounts'
  | 'bitSums';

/** Every size and count of an MSM, or of several that are done as one; a pure function of the workload, the curve, the limits and the tuning. */
export interface Plan {
  readonly vectors: number;
  /** Scalars of the longest vector. */
  readonly n: number;
  readonly tuning: Tuning;
  /** The instrument that the plan has room for. */
  readonly instrument: Instrument | undefined;
  /** Pieces that a scalar is cut into, one for each table that is used. */
  readonly blocks: number;
  readonly blockBits: number;
  /** Points that there are of each base. */
  readonly tables: number;
  /** T, of one vector */
  readonly vectorWindows: number;
  /** Those of all vectors; each has a slab of entries and a set of buckets. */
  readonly windows: number;
  /** Windows that are sorted and walked together; the last group may have fewer. */
  readonly windowsPerGroup: number;
  /** B, buckets of one window */
  readonly buckets: number;
  readonly sortPasses: readonly SortPass[];
  /** Tiles of one window's slab in the sort. */
  readonly tiles: number;
  /** The most tasks of each walk over the sorted stream and its partial sums, down to 1. */
  readonly levelTasks: readonly number[];
  readonly reduce: ReduceShape;
  readonly scratch: ScratchSizes;
  readonly scratchBytes: number;
  /** The most additions: digits that are not zero, and the reduction. */
  readonly additions: number;
  /** Groups of windows; each is a submit. */
  readonly groups: number;
  /** The reduction has a submit of its own, as the last group's would become too long. */
  readonly reduceOwnSubmit: boolean;
  readonly submits: number;
  /** Dispatches of the commands that record.ts makes of this plan. */
  readonly dispatches: number;
  /** Passes that are timed, at most. */
  readonly timedPasses: number;
  /** What the budget is charged with: the scratch and the small buffers of the submit. */
  readonly peakBytes: number;
}

/** Passes of a group that are timed, at most: a plan has as many stages on the GPU, or one less. */
const TIMED_PASSES = 6;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/**
 * Plans a workload without chunks, whatever it takes.
 *
 * @param mostWindows the most windows in a group
 */
export const planOne = (
  load: Workload,
  curve: CurveContext,
  limits: DeviceProfile,
  overrides: Knobs,
  mostWindows = Number.POSITIVE_INFINITY,
): Plan => layOut(load, curve, resolveTuning(load, curve, limits, overrides), overrides.instrument, mostWindows);

const layOut = (
  load: Workload,
  curve: CurveContext,
  tuning: Tuning,
  instrument: Instrument | undefined,
  mostWindows: number,
): Plan => {
  const { n, vectors } = load;
  const pieces = blocksOf(load);
  const rowLength = n * pieces.count;
  const vectorWindows = windowCount(pieces.bits - 1, tuning.windowBits);
  const windows = vectors * vectorWindows;
  const buckets = 2 ** (tuning.windowBits - 1);
  const most = Math.min(mostWindows, Math.max(1, Math.floor(tuning.additionsPerSubmit / rowLength)));
  const windowsPerGroup = Math.ceil(windows / Math.ceil(windows / most));
  const groups = Math.ceil(windows / windowsPerGroup);
  const entries = rowLength * windowsPerGroup;
  const tiles = Math.ceil(rowLength / (tuning.sortThreadsPerWorkgroup * tuning.sortEntriesPerThread));
  const mostTasks = Math.min(tuning.walkerTasks, Math.max(1, Math.ceil(entries / tuning.walkerEntriesPerTask)));
  const tasks = levelTasks(mostTasks);
  const reduce = reduceShape(tuning.windowBits, windows);

  const entry = 4 * ENTRY_WORDS;
  const point = 4 * curve.pointWords;
  // The reduction's walks write their (always absent) places too, into the buffers of the levels.
  const carries = 2 * Math.max(mostTasks, reduce.splitTasks, reduce.bitsTasks);
  const nextCarries = 2 * (tasks[1] ?? 1);
  const needed: ScratchSizes = {
    scalars: vectors * n * curve.scalarBytes,
    vectors: vectors * Vector.byteLength,
    picks: load.picked ? 4 * vectors * n : 0,
    // ping and pong of the sort; afterwards the streams of the reduction's two walks
    entriesA: entry * Math.max(entries, reduce.splitEntries),
    entriesB: entry * Math.max(entries, reduce.bitsEntries),
    counts: 4 * windowsPerGroup * 2 ** SORT_MAX_BITS * tiles,
    totals: 4 * windowsPerGroup,
    levels: Level.byteLength * (tasks.length + 2),
    buckets: point * windows * buckets,
    carriesA: entry * carries,
    partialsA: point * carries,
    carriesB: entry * nextCarries,
    partialsB: point * nextCarries,
    splitSums: point * reduce.splitTasks,
    accounts: accountsBytes({ groups, levelTasks: tasks, instrument }),
    bitSums: point * reduce.bitsTasks,
    ...instrument?.scratch({ ...reduce, streamBytes: entry * entries, buckets: windows * buckets }),
  };
  const scratch = Object.fromEntries(
    Object.entries(needed).map(([name, bytes]) => [name, Math.max(LEAST_BUFFER_BYTES, bytes)]),
  ) as unknown as ScratchSizes;
  const passes = sortPasses(tuning.windowBits - 1);
  const { accounts, bitSums } = scratch;
  const scratchBytes = sum(Object.values(scratch));
  const lastGroup = rowLength * (windows - (groups - 1) * windowsPerGroup);
  const reduction = reduceAdditions(tuning.windowBits, windows);
  const reduceOwnSubmit = lastGroup + reduction > tuning.additionsPerSubmit;
  // decompose, 3 a sort pass, partition and the walks of every group; 3 of the reduction
  const own = groups * (1 + 3 * passes.length + 1 + tasks.length) + 3;
  const dispatches = own + (instrument?.dispatches(groups, tasks.length) ?? 0);
  const timedPasses = instrument ? dispatches : TIMED_PASSES * groups;
  return {
    vectors,
    n,
    tuning,
    instrument,
    blocks: pieces.count,
    blockBits: pieces.bits,
    tables: load.tables.count,
    vectorWindows,
    windows,
    windowsPerGroup,
    groups,
    reduceOwnSubmit,
    submits: groups + (reduceOwnSubmit ? 1 : 0),
    buckets,
    sortPasses: passes,
    tiles,
    levelTasks: tasks,
    reduce,
    scratch,
    scratchBytes,
    additions: rowLength * windows + reduction,
    dispatches,
    timedPasses,
    // what it gives back is in the last
    peakBytes: scratchBytes - accounts - bitSums + jobBytes(accounts, bitSums, dispatches, timedPasses).all,
  };
};

/** Points of bases that a chunk may have to bind beyond its own, because a binding starts only at certain places. */
const spareBases = (curve: CurveContext, tables: number): number => itemsPerBindingStep(tables * curve.pointBytes) - 1;

/** Why a plan does not fit, or null. */
const misfit = (plan: Plan, curve: CurveContext, limits: PlanLimits, budget: number): string | null => {
  const most = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
  for (const [name, bytes] of Object.entries(plan.scratch)) {
    if (bytes > most) return `scratch buffer '${name}' needs ${bytes} bytes, the device binds ${most}`;
  }
  // one row of workgroups a window, and one a window of a group
  const row = Math.max(plan.tiles, plan.windowsPerGroup);
  if (row > MAX_GROUPS) return `the sort needs ${row} workgroups in a row, a device dispatches ${MAX_GROUPS}`;
  const bases = (plan.n + spareBases(curve, plan.tables)) * plan.tables * curve.pointBytes;
  if (bases > limits.maxStorageBufferBindingSize) {
    return `the bases of one chunk take ${bases} bytes, the device binds ${limits.maxStorageBufferBindingSize}`;
  }
  const { additionsPerSubmit } = plan.tuning;
  if (plan.n * plan.blocks > additionsPerSubmit) {
    return `one window takes ${plan.n * plan.blocks} additions, a submit may do ${additionsPerSubmit}`;
  }
  if (plan.vectors > 1 && reduceAdditions(plan.tuning.windowBits, plan.windows) > additionsPerSubmit) {
    return `the reduction of ${plan.vectors} vectors takes more than the ${additionsPerSubmit} additions of a submit`;
  }
  if (plan.peakBytes > budget) return `it takes ${plan.peakBytes} bytes of scratch, the budget is ${budget}`;
  return null;
};

/**
 * Scratch that more groups of windows are made for, though the budget allows more: by then a group has enough to do for every device, and
 * memory of somebody else's page is not for free. Chunks are never made for it.
 */
const enoughScratch = ({ vectors, n }: Workload): number => 2 ** 25 + 60 * vectors * n;

/** The plan with the fewest groups of windows that fits; one that does not, and why, if there is none. */
const fewestGroups = (
  load: Workload,
  curve: CurveContext,
  limits: PlanLimits,
  budget: number,
  overrides: Knobs,
): { plan: Plan; why: string | null } => {
  const { instrument } = overrides;
  const tuning = resolveTuning(load, curve, limits, overrides);
  let plan = layOut(load, curve, tuning, instrument, Number.POSITIVE_INFINITY);
  let why = misfit(plan, curve, limits, budget);
  const isLavish = ({ scratchBytes }: Plan): boolean => {
    if (scratchBytes <= enoughScratch(load)) return false;
    // what does not become less with the groups: scalars, buckets
    const fixed = layOut(load, curve, tuning, instrument, 1).scratchBytes;
    return scratchBytes > WORTH_SAVING * fixed;
  };
  while ((why !== null || isLavish(plan)) && plan.windowsPerGroup > 1) {
    // exact where there are few, and quick where a batch has thousands
    const step = Math.max(1, Math.floor(plan.windowsPerGroup / 64));
    plan = layOut(load, curve, tuning, instrument, plan.windowsPerGroup - step);
    why = misfit(plan, curve, limits, budget);
  }
  return { plan, why };
};

/** More groups save little where scratch is no more than so many times what they cannot save. */
const WORTH_SAVING = 1.1;

/** The option that a budget comes from. */
export type BudgetName = 'memoryBudget' | 'deviceBudget';

/** What else helps, where it is not raised. */
const budgetAdvice: Readonly<Record<BudgetName, string>> = {
  memoryBudget: '',
  deviceBudget: 'destroy what is not needed of its bases and scalars, or ',
};

/**
 * Cuts an MSM into the fewest equal chunks whose buffers fit the device's limits and the budget, and so that one window of a
 * chunk is no more than a submit may do; and each chunk into the fewest groups of windows. More groups cost a few dispatches each,
 * more chunks a reduction each.
 *
 * @param load one vector
 * @param budget bytes of scratch
 * @param name what to call the budget where it is too small
 * @returns the plan of every chunk but perhaps the last, which is shorter
 * @throws MsmError `bad-argument` if not even the smallest chunk fits
 */
export const planMsm = (
  load: Workload,
  curve: CurveContext,
  limits: PlanLimits,
  budget: number,
  overrides: Knobs,
  name: BudgetName = 'memoryBudget',
): Plan => {
  const { n } = load;
  const attempt = (chunks: number) =>
    fewestGroups(shareOf(load, Math.ceil(n / chunks)), curve, limits, budget, overrides);
  let fits = 1;
  let found = attempt(fits);
  while (found.why !== null) {
    if (fits >= n) {
      const { windowBits, ...open } = overrides;
      const isWide =
        windowBits !== undefined && fewestGroups(shareOf(load, 1), curve, limits, budget, open).why === null;
      const [knob, advice] = isWide ? ['tuning.windowBits', 'set fewer or none, or '] : [name, budgetAdvice[name]];
      throw badArgument(`${knob}: not even one scalar at a time fits: ${found.why}; ${advice}raise the budget`);
    }
    fits *= 2;
    found = attempt(fits);
  }
  let tooFew = Math.floor(fits / 2);
  while (fits - tooFew > 1) {
    const middle = Math.floor((fits + tooFew) / 2);
    const tried = attempt(middle);
    if (tried.why !== null) {
      tooFew = middle;
    } else {
      fits = middle;
      found = tried;
    }
  }
  return found.plan;
};

/** A batch in many groups of windows is better done as several batches: so many more than its additions ask for are too many. */
const MANY_GROUPS = 4;

/**
 * Plans several vectors as one, or null where they had better be fewer: they do not fit, or fit only a few windows at a time, or with
 * windows much narrower than one of them would have.
 *
 * @param load more than one vector
 */
export const planTogether = (
  load: Workload,
  curve: CurveContext,
  limits: PlanLimits,
  budget: number,
  overrides: Knobs,
): Plan | null => {
  const { plan, why } = fewestGroups(load, curve, limits, budget, overrides);
  const { windowBits, additionsPerSubmit } = plan.tuning;
  if (why !== null || plan.groups > MANY_GROUPS * Math.ceil(plan.additions / additionsPerSubmit)) return null;
  const alone = resolveTuning(oneOf(load), curve, limits, overrides);
  return windowBits + 1 < alone.windowBits ? null : plan;
};
