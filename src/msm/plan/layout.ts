import type { Tuning } from '../../api/tuning.js';
import type { CurveContext } from '../../curves/curve.js';
import { jobBytes, LEAST_BUFFER_BYTES } from '../../shaders/limits.js';
import { Vector } from '../stages/decompose.js';
import { ENTRY_WORDS } from '../stages/entry.js';
import type { Instrument } from '../stages/instrument.js';
import { Level } from '../stages/level.js';
import { levelTasks } from '../stages/partition.js';
import { reduceShape } from '../stages/reduce.js';
import { sortPasses, sortShape, sortTiles } from '../stages/sort.js';
import { extendedWords } from '../stages/walk-xyzz.js';
import { accountsBytes } from './accounts.js';
import type { Plan, ScratchSizes } from './plan.js';
import { reduceAdditions } from './window-bits.js';
import { windowCount } from './window-count.js';
import { blocksOf, type Workload } from './workload.js';

/**
 * The most passes of a group that are timed: one for each stage of a plan on the GPU, or one less.
 */
const TIMED_PASSES = 6;

const ENTRY_BYTES = 4 * ENTRY_WORDS;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Fields of a plan that the sizes of its buffers follow from. */
type Shape = Pick<
  Plan,
  | 'vectors'
  | 'n'
  | 'tuning'
  | 'instrument'
  | 'blocks'
  | 'blockBits'
  | 'tables'
  | 'vectorWindows'
  | 'windows'
  | 'windowsPerGroup'
  | 'groups'
  | 'buckets'
  | 'sortPasses'
  | 'sortShape'
  | 'tiles'
  | 'levelTasks'
  | 'reduce'
>;

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
    levels: Level.byteLength * (levelTasks.length + reduce.walks.length),
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
 * Lays out a workload without chunks.
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
