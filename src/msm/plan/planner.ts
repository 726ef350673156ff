/**
 * The planner: every size and count of an MSM, as a pure function of its workload, the curve, the
 * device and the knobs. From the whole to the parts: plans, what a plan says, the sizes of scratch.
 */
import type { Tuning } from '../../api/device.js';
import type { CurveContext } from '../../curves/curve.js';
import { badArgument } from '../../errors.js';
import { LANES } from '../../shaders/hash-chain.js';
import { itemsPerBindingStep, jobBytes, LEAST_BUFFER_BYTES, MAX_GROUPS } from '../../shaders/limits.js';
import { Vector } from '../stages/decompose.js';
import { ENTRY_WORDS, Level } from '../stages/entry.js';
import type { Instrument } from '../stages/kernels.js';
import { levelTasks } from '../stages/partition.js';
import { type ReduceShape, reduceShape } from '../stages/reduce.js';
import { type SortPass, type SortShape, sortPasses, sortShape, sortTiles } from '../stages/sort.js';
import { extendedWords } from '../stages/walk-xyzz.js';
import { type DeviceProfile, type Knobs, reduceAdditions, resolveTuning } from './tuning.js';
import { blocksOf, oneOf, shareOf, type Workload, windowCount } from './workload.js';

/**
 * Returns the bases that a chunk may have to bind beyond its own, because bindings start at aligned
 * offsets.
 */
const spareBases = (curve: CurveContext, tables: number): number => itemsPerBindingStep(tables * curve.pointBytes) - 1;

/** Returns why a plan does not fit, or null if it fits. */
const misfit = (plan: Plan, curve: CurveContext, limits: PlanLimits, budget: number): string | null => {
  const most = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize);
  for (const [name, bytes] of Object.entries(plan.scratch)) {
    if (bytes > most) return `scratch buffer '${name}' needs ${bytes} bytes, the device binds ${most}`;
  }
  // the sort dispatches a row of workgroups for each window, and one workgroup for each window of a
  // group
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
 * Returns the scratch that suffices, in bytes. Beyond it a plan gets more groups of windows even if
 * the budget allows more, because memory of the page is not free, unless the device is so wide that
 * a group costs it more than its additions. It is no reason for chunks.
 */
const enoughScratch = ({ vectors, n }: Workload): number => 2 ** 25 + 60 * vectors * n;

/**
 * Returns the plan with the fewest groups of windows that fits. If none fits, returns one with the
 * reason.
 */
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
    if (limits.isWide || scratchBytes <= enoughScratch(load)) return false;
    // scratch that more groups do not reduce: scalars, buckets
    const fixed = layOut(load, curve, tuning, instrument, 1).scratchBytes;
    return scratchBytes > WORTH_SAVING * fixed;
  };
  while ((why !== null || isLavish(plan)) && plan.windowsPerGroup > 1) {
    // exact for few groups, and fast for a batch of thousands
    const step = Math.max(1, Math.floor(plan.windowsPerGroup / 64));
    plan = layOut(load, curve, tuning, instrument, plan.windowsPerGroup - step);
    why = misfit(plan, curve, limits, budget);
  }
  return { plan, why };
};

/** More groups are not worth while if scratch is within this factor of what they cannot reduce. */
const WORTH_SAVING = 1.1;

/** The option that a budget comes from. */
type BudgetName = 'memoryBudget' | 'deviceBudget';

/** Limits and scratch that a device offers to a plan. */
export interface Room {
  readonly limits: PlanLimits;
  /** Bytes of scratch. */
  readonly budget: number;
  /** Name of the budget, for errors. Default `memoryBudget`. */
  readonly name?: BudgetName | undefined;
}

/** Advice besides raising the budget. */
const budgetAdvice: Readonly<Record<BudgetName, string>> = {
  memoryBudget: '',
  deviceBudget: 'destroy what is not needed of its bases and scalars, or ',
};

/**
 * Cuts an MSM into the fewest equal chunks whose buffers fit the limits of the device and the
 * budget, and of which one window fits a submit. Cuts each chunk into the fewest groups of windows.
 * A group costs a few dispatches, a chunk a reduction.
 *
 * @param load one vector
 * @returns the plan of every chunk; the last one may be shorter
 * @throws MsmError `bad-argument` if not even the smallest chunk fits
 */
export const planMsm = (
  load: Workload,
  curve: CurveContext,
  { limits, budget, name = 'memoryBudget' }: Room,
  overrides: Knobs,
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

/**
 * A batch with this many times more groups of windows than its additions need is split, as several
 * batches are faster then.
 */
const MANY_GROUPS = 4;

/**
 * Plans several vectors as one. Returns null if fewer vectors at a time are better: together they
 * do not fit, fit only a few windows at a time, or get much narrower windows than one vector alone.
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
  const single = resolveTuning(oneOf(load), curve, limits, overrides);
  return windowBits + 1 < single.windowBits ? null : plan;
};

/** Limits of a device that sizes depend on. */
export interface PlanLimits extends DeviceProfile {
  readonly maxStorageBufferBindingSize: number;
  readonly maxBufferSize: number;
}

/**
 * Bytes of the scratch buffers of one MSM, by name, and of `accounts` and `bitSums`, which it
 * returns. An instrument adds buffers of its own.
 */
type ScratchSizes = Readonly<Record<ScratchName, number>>;
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
  | 'foldSums'
  | 'accounts'
  | 'bitSums';

/**
 * Every size and count of an MSM by Pippenger's bucket method, or of several MSMs that are computed
 * as one. A plan is a pure function of the workload, the curve, the limits of the device and the
 * knobs.
 */
export interface Plan {
  readonly vectors: number;
  /** Scalars of the longest vector. */
  readonly n: number;
  readonly tuning: Tuning;
  /** The instrument that the plan has room for. */
  readonly instrument: Instrument | undefined;
  /** Blocks that a scalar is cut into, one for each table that is used. */
  readonly blocks: number;
  readonly blockBits: number;
  /** Resident multiples of each base. */
  readonly tables: number;
  /** T: windows of one vector. */
  readonly vectorWindows: number;
  /** Windows of all vectors; each has a window row of entries and a set of buckets. */
  readonly windows: number;
  /** Windows that are sorted and walked together; the last group may have fewer. */
  readonly windowsPerGroup: number;
  /** B: buckets of one window. */
  readonly buckets: number;
  readonly sortPasses: readonly SortPass[];
  readonly sortShape: SortShape;
  /** Tiles of one window row in the sort. */
  readonly tiles: number;
  /** The most tasks of each walk over the sorted stream and its partial sums, down to 1. */
  readonly levelTasks: readonly number[];
  readonly reduce: ReduceShape;
  readonly scratch: ScratchSizes;
  readonly scratchBytes: number;
  /** The most additions: nonzero digits, and the reduction. */
  readonly additions: number;
  /** Groups of windows; each is a submit. */
  readonly groups: number;
  /**
   * The reduction has a submit of its own, because the last group's would take too long with it.
   */
  readonly reduceOwnSubmit: boolean;
  readonly submits: number;
  /** Dispatches of the commands that record-job.ts makes of this plan. */
  readonly dispatches: number;
  /** The most passes that are timed. */
  readonly timedPasses: number;
  /** Bytes that are charged to the budget: the scratch and the small buffers of the submit. */
  readonly peakBytes: number;
}

/**
 * The most passes of a group that are timed: one for each stage of a plan on the GPU, or one less.
 */
const TIMED_PASSES = 6;

const ENTRY_BYTES = 4 * ENTRY_WORDS;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Fields of a plan that the sizes of its buffers follow from. */
type Shape = Omit<Plan, 'scratch' | 'scratchBytes' | 'additions' | 'dispatches' | 'peakBytes' | Submits>;

/** Fields of a plan that say how it is submitted. */
type Submits = 'submits' | 'reduceOwnSubmit' | 'timedPasses';

/** Returns how many windows, groups, buckets, tiles and tasks a workload takes. */
const shapeOf = (load: Workload, tuning: Tuning, instrument: Instrument | undefined, mostWindows: number): Shape => {
  const { n, vectors } = load;
  const blocks = blocksOf(load);
  const rowLength = n * blocks.count;
  const vectorWindows = windowCount(blocks.bits - 1, tuning.windowBits);
  const windows = vectors * vectorWindows;
  const most = Math.min(mostWindows, Math.max(1, Math.floor(tuning.additionsPerSubmit / rowLength)));
  const windowsPerGroup = Math.ceil(windows / Math.ceil(windows / most));
  const entries = rowLength * windowsPerGroup;
  const sort = sortShape(tuning, tuning.windowBits - 1);
  const mostTasks = Math.min(tuning.walkerTasks, Math.max(1, Math.ceil(entries / tuning.walkerEntriesPerTask)));
  return {
    vectors,
    n,
    tuning,
    instrument,
    blocks: blocks.count,
    blockBits: blocks.bits,
    tables: load.tables.count,
    vectorWindows,
    windows,
    windowsPerGroup,
    groups: Math.ceil(windows / windowsPerGroup),
    buckets: 2 ** (tuning.windowBits - 1),
    sortPasses: sortPasses(tuning.windowBits - 1),
    sortShape: sort,
    tiles: sortTiles(rowLength, sort),
    levelTasks: levelTasks(mostTasks, tuning.combineBits),
    reduce: reduceShape(tuning.windowBits, windows, tuning.combineBits),
  };
};

/**
 * Returns the most sums that the walks of the reduction write to one of two buffers in turn. The
 * last walk writes affine sums where the host reads them.
 */
const mostSums = ({ walks }: Shape['reduce'], turn: 0 | 1, isExtended: boolean): number =>
  Math.max(0, ...walks.slice(0, isExtended ? undefined : -1).map(({ tasks }, i) => (i % 2 === turn ? tasks : 0)));

/** Returns whether the sums of walks are in extended coordinates. */
const hasExtendedSums = ({ tuning }: Pick<Shape, 'tuning'>): boolean => tuning.walkerCoordinates === 'xyzz';

/** Returns the bytes of every scratch buffer. */
const scratchOf = (shape: Shape, curve: CurveContext, picked: boolean): ScratchSizes => {
  const { vectors, n, blocks, windows, windowsPerGroup, buckets, tiles, levelTasks, reduce, instrument } = shape;
  const point = 4 * curve.pointWords;
  const isExtended = hasExtendedSums(shape);
  const sumBytes = isExtended ? 4 * extendedWords(curve) : point;
  const entries = n * blocks * windowsPerGroup;
  const [mostTasks = 1, nextTasks = 1] = levelTasks;
  // the walks of the reduction write carries too, always absent ones, into the buffers of the
  // levels
  const carries = 2 * Math.max(mostTasks, ...reduce.walks.map(({ tasks }) => tasks));
  const nextCarries = 2 * nextTasks;
  const needed: ScratchSizes = {
    scalars: vectors * n * curve.scalarBytes,
    vectors: vectors * Vector.byteLength,
    picks: picked ? 4 * vectors * n : 0,
    // source and target of the sort in turn; afterwards the streams of the reduction's walks
    entriesA: ENTRY_BYTES * Math.max(entries, reduce.splitEntries),
    entriesB:
      ENTRY_BYTES * Math.max(entries, reduce.bitsEntries, reduce.foldEntries && reduce.foldFirst + reduce.foldEntries),
    counts: 4 * windowsPerGroup * shape.sortShape.bins * tiles,
    totals: 4 * windowsPerGroup,
    levels: Level.byteLength * walksOf(shape),
    buckets: sumBytes * windows * buckets,
    carriesA: ENTRY_BYTES * carries,
    partialsA: sumBytes * carries,
    carriesB: ENTRY_BYTES * nextCarries,
    partialsB: sumBytes * nextCarries,
    splitSums: sumBytes * mostSums(reduce, 0, isExtended),
    foldSums: sumBytes * mostSums(reduce, 1, isExtended),
    accounts: accountsBytes(shape),
    bitSums: point * reduce.bitSums,
    ...instrument?.scratch({ ...reduce, streamBytes: ENTRY_BYTES * entries, buckets: windows * buckets }),
  };
  return Object.fromEntries(
    Object.entries(needed).map(([name, bytes]) => [name, Math.max(LEAST_BUFFER_BYTES, bytes)]),
  ) as unknown as ScratchSizes;
};

/**
 * Returns the dispatches of a plan: decompose, three a sort pass, partition and walks of each
 * group; the layout and the walks of the reduction, and the conversion of its sums.
 */
const dispatchesOf = (shape: Shape): number => {
  const { groups, sortPasses, levelTasks, reduce, instrument } = shape;
  return (
    groups * (1 + 3 * sortPasses.length + 1 + levelTasks.length) +
    1 +
    reduce.walks.length +
    (hasExtendedSums(shape) ? 1 : 0) +
    (instrument?.dispatches(groups, levelTasks.length, reduce.walks.length) ?? 0)
  );
};

/**
 * Lays out a workload without chunks, regardless of limits and budget.
 *
 * @param mostWindows the most windows in a group
 */
export const layOut = (
  load: Workload,
  curve: CurveContext,
  tuning: Tuning,
  instrument: Instrument | undefined,
  mostWindows: number,
): Plan => {
  const shape = shapeOf(load, tuning, instrument, mostWindows);
  const { n, blocks, windows, windowsPerGroup, groups } = shape;
  const scratch = scratchOf(shape, curve, load.picked);
  const { accounts, bitSums } = scratch;
  const scratchBytes = sum(Object.values(scratch));
  const rowLength = n * blocks;
  const lastGroup = rowLength * (windows - (groups - 1) * windowsPerGroup);
  const reduction = reduceAdditions(tuning.windowBits, windows);
  const reduceOwnSubmit = lastGroup + reduction > tuning.additionsPerSubmit;
  const dispatches = dispatchesOf(shape);
  const timedPasses = instrument ? dispatches : TIMED_PASSES * groups;
  return {
    ...shape,
    reduceOwnSubmit,
    submits: groups + (reduceOwnSubmit ? 1 : 0),
    scratch,
    scratchBytes,
    additions: rowLength * windows + reduction,
    dispatches,
    timedPasses,
    // jobBytes counts what the plan returns
    peakBytes: scratchBytes - accounts - bitSums + jobBytes(accounts, bitSums, dispatches, timedPasses).all,
  };
};

/** Accounts of one group of windows, as indices of words. */
export interface GroupAccounts {
  /** Digest of the scalars that decompose read, in lanes. */
  readonly scalars: number;
  /** Digest of the entries that decompose wrote, in lanes. */
  readonly entries: number;
  /** Number of entries to walk, written by partition. */
  readonly length: number;
  /** Digest of the entries that the walks took in. */
  readonly checksum: number;
}

/**
 * Accounts of a batch: digests and counts of what stages read and wrote. The host compares them
 * with each other and with its own.
 */
export interface Accounts {
  readonly groups: readonly GroupAccounts[];
  readonly reduce: Pick<GroupAccounts, 'entries' | 'checksum'>;
  /**
   * Finite bucket sums, times the additions of each in the reduction, minus the finite points that
   * the reduction takes in: 0 in the end.
   */
  readonly finitePoints: number;
  /** Digest of the sums that the host reads back, by the walk that wrote them. */
  readonly readBack: number;
}

const GROUP_WORDS = 2 * LANES + 2;

/** Fields of a plan that the number of accounts depends on. */
interface Counted extends Pick<Plan, 'groups' | 'levelTasks' | 'instrument'> {
  readonly reduce: { readonly walks: readonly unknown[] };
}

/** Words in front of the accounts, for the findings of an instrument. */
const findingsWords = (plan: Counted): number => plan.instrument?.findingsWords(walksOf(plan)) ?? 0;

/** Returns the number of walks: over a stream and its partial sums, and in the reduction. */
export const walksOf = ({ levelTasks, reduce }: Pick<Counted, 'levelTasks' | 'reduce'>): number =>
  levelTasks.length + reduce.walks.length;

/** Returns the bytes of the accounts of a batch. */
export const accountsBytes = (plan: Counted): number =>
  4 * (findingsWords(plan) + plan.groups * GROUP_WORDS + LANES + 3);

/**
 * Returns the accounts of a batch, as indices of words.
 *
 * @param at offset of the batch's slice, in bytes
 */
export const accountsOf = (plan: Counted, at: number): Accounts => {
  const first = at / 4 + findingsWords(plan);
  const reduce = first + plan.groups * GROUP_WORDS;
  return {
    groups: Array.from({ length: plan.groups }, (_, group) => {
      const scalars = first + group * GROUP_WORDS;
      const entries = scalars + LANES;
      const length = entries + LANES;
      return { scalars, entries, length, checksum: length + 1 };
    }),
    reduce: { entries: reduce, checksum: reduce + LANES },
    finitePoints: reduce + LANES + 1,
    readBack: reduce + LANES + 2,
  };
};
