/** Records the commands of a job: the stages of each batch in order. */
import { type Command, type Dispatch, RESULT, type Slice } from '../../shaders/kernel.js';
import { groupsFor } from '../../shaders/limits.js';
import { type Accounts, accountsOf, type GroupAccounts, type Plan, type ScratchName } from '../plan/planner.js';
import type { Batch, Job, OwnName } from '../plan/schedule.js';
import { DECOMPOSE_THREADS, DecomposeConfig } from '../stages/decompose.js';
import { ENTRY_WORDS } from '../stages/entry.js';
import type { Kernels } from '../stages/kernels.js';
import { NORMALIZE_THREADS, NormalizeConfig } from '../stages/normalize.js';
import { PartitionConfig, threadsOf } from '../stages/partition.js';
import { REDUCE_THREADS, ReduceConfig } from '../stages/reduce.js';
import { SortConfig } from '../stages/sort.js';
import { WalkConfig } from '../stages/walk.js';
import { WalkXyzzConfig } from '../stages/walk-xyzz.js';

const windowGroups = ({ windows, windowsPerGroup }: Plan, { groups }: Accounts): WindowGroup[] =>
  groups.map((accounts, i) => {
    const first = i * windowsPerGroup;
    return { accounts, first, count: Math.min(windowsPerGroup, windows - first) };
  });

/**
 * Records a job. It reads `scalars`, `picks` and `vectors`, and returns accounts and `bitSums`.
 * Each batch has its own slice of each.
 *
 * @param bases returns the slice of the bases that a batch binds
 */
export const recordJob = (kernels: Kernels, { batches }: Job, bases: (batch: Batch) => Slice): Command[] =>
  batches.flatMap((batch, i) => {
    const commands = recordBatch(kernels, batch, bases(batch));
    return [
      ...(batch.ownSubmit && i > 0 ? [{ kind: 'submit' } as const] : []),
      ...(batch.plan.instrument?.instrument(kernels.curve, batch, commands) ?? commands),
    ];
  });

const recordBatch = (kernels: Kernels, batch: Batch, bases: Slice): Command[] => {
  const { plan } = batch;
  const accounts = accountsOf(plan, batch.at.accounts);
  return [
    // zeros are infinity, for empty buckets; every other bucket has exactly one writer
    { kind: 'clear', slice: scratch('buckets', 0, plan.scratch.buckets) },
    ...windowGroups(plan, accounts).flatMap((group): Command[] => [
      ...(group.first === 0 ? [] : [{ kind: 'submit' } as const]),
      ...recordDecompose(kernels, batch, group),
      ...recordSort(kernels, batch, group),
      ...recordPartition(kernels, batch, group),
      ...recordWalk(kernels, batch, group, accounts, bases),
    ]),
    ...(plan.reduceOwnSubmit ? [{ kind: 'submit' } as const] : []),
    ...recordReduce(kernels, batch, accounts),
  ];
};

/** Returns the number of entries of a window row. */
const rowLengthOf = ({ plan, n }: Batch): number => n * plan.blocks;

const recordDecompose = (kernels: Kernels, batch: Batch, group: WindowGroup): Command[] => {
  const { plan, n } = batch;
  const vectors =
    Math.ceil((group.first + group.count) / plan.vectorWindows) - Math.floor(group.first / plan.vectorWindows);
  return [
    {
      kind: 'dispatch',
      phase: 'decompose',
      kernel: kernels.decompose(),
      config: DecomposeConfig.pack({
        scalars: n,
        window_bits: plan.tuning.windowBits,
        blocks: plan.blocks,
        block_bits: plan.blockBits,
        tables: plan.tables,
        vector_windows: plan.vectorWindows,
        first_window: group.first,
        windows: group.count,
        scalars_account: group.accounts.scalars,
        entries_account: group.accounts.entries,
      }),
      bindings: {
        vectors: ownSlice(batch, 'vectors'),
        picks: ownSlice(batch, 'picks'),
        scalars: ownSlice(batch, 'scalars'),
        entries: scratch(sortBuffer(0)),
      },
      groups: groupsFor(n * vectors, DECOMPOSE_THREADS),
    },
  ];
};

const recordSort = (kernels: Kernels, batch: Batch, group: WindowGroup): Command[] => {
  const { plan } = batch;
  const { count, scan, scatter } = kernels.sort(plan.sortShape);
  return plan.sortPasses.flatMap(({ shift, bits }, pass): Command[] => {
    const config = SortConfig.pack({
      row_length: rowLengthOf(batch),
      tiles: plan.tiles,
      first_window: group.first,
      buckets: plan.buckets,
      shift,
      mask: 2 ** bits - 1,
      first_pass: pass === 0 ? 1 : 0,
      last_pass: pass === plan.sortPasses.length - 1 ? 1 : 0,
    });
    const common = { entries: scratch(sortBuffer(pass)), counts: scratch('counts'), totals: scratch('totals') };
    const { entries, counts, totals } = common;
    const tiles = [plan.tiles, group.count] as const;
    return [
      { kind: 'dispatch', phase: 'sort', kernel: count, config, bindings: common, groups: tiles },
      {
        kind: 'dispatch',
        phase: 'sort',
        kernel: scan,
        config,
        bindings: { totals, counts },
        groups: [group.count, 1],
      },
      {
        kind: 'dispatch',
        phase: 'sort',
        kernel: scatter,
        config,
        bindings: { entries, totals, counts, sorted: scratch(sortBuffer(pass + 1)) },
        groups: tiles,
      },
    ];
  });
};

const recordPartition = (kernels: Kernels, batch: Batch, group: WindowGroup): Command[] => {
  const { tuning, levelTasks, reduce } = batch.plan;
  return [
    {
      kind: 'dispatch',
      phase: 'partition',
      kernel: kernels.partition(),
      config: PartitionConfig.pack({
        windows: group.count,
        row_length: rowLengthOf(batch),
        entries_per_task: tuning.walkerEntriesPerTask,
        most_tasks: levelTasks[0] as number,
        levels: levelTasks.length,
        slots: tuning.walkerSlots,
        least_threads: tuning.walkerLeastThreads,
        combine_bits: tuning.combineBits,
        split_entries: reduce.splitEntries,
        split_tasks: reduce.splitEntries / 2 ** reduce.splitRunBits,
        split_folds: reduce.splitFolds,
        bits_entries: reduce.bitsEntries,
        bits_tasks: reduce.bitsEntries / 2 ** reduce.bitsRunBits,
        bits_folds: reduce.bitsFolds,
        entries_account: group.accounts.length,
      }),
      bindings: { totals: scratch('totals'), levels: scratch('levels') },
      groups: [1, 1],
    },
  ];
};

/* Records the walks of a batch: over the sorted stream, its partial sums, and in the reduction. */

/** Returns workgroups for the most threads of a walk. @param tasks the most tasks */
const walkGroups = ({ tuning }: Plan, tasks: number): readonly [number, number] =>
  groupsFor(threadsOf(tasks, tuning.walkerSlots, tuning.walkerLeastThreads), tuning.walkerThreadsPerWorkgroup);

/** Returns the kernel and the config of a walk in the coordinates of the plan. */
const walkIn = (
  kernels: Kernels,
  { tuning, instrument }: Plan,
  { read_back, ...config }: Parameters<typeof WalkConfig.pack>[0],
  readsBases: boolean,
): Pick<Dispatch, 'kernel' | 'config'> => {
  const shape = { threads: tuning.walkerThreadsPerWorkgroup, instrumented: instrument !== undefined };
  return tuning.walkerCoordinates === 'xyzz'
    ? { kernel: kernels.walkXyzz(shape), config: WalkXyzzConfig.pack({ ...config, extended: readsBases ? 0 : 1 }) }
    : {
        kernel: kernels.walk({ ...shape, prefixMemory: tuning.walkerPrefixMemory, slots: tuning.walkerSlots }),
        config: WalkConfig.pack({ ...config, read_back }),
      };
};

/** One walk over a stream of entries. */
interface Walk {
  readonly phase: 'walk' | 'combine' | 'reduce';
  readonly config: Parameters<typeof WalkConfig.pack>[0];
  /** The most tasks. */
  readonly tasks: number;
  /** Buffers that receive the carries and their partial sums. */
  readonly to: 'A' | 'B';
  readonly buffers: Readonly<Record<'stream' | 'points' | 'sums', Slice>>;
}

const recordOneWalk = (kernels: Kernels, plan: Plan, { phase, config, tasks, to, buffers }: Walk): Command => ({
  kind: 'dispatch',
  phase,
  ...walkIn(kernels, plan, config, phase === 'walk'),
  bindings: {
    ...buffers,
    levels: scratch('levels'),
    carries: scratch(`carries${to}`),
    partials: scratch(`partials${to}`),
  },
  groups: walkGroups(plan, tasks),
});

/**
 * Records the walk over the sorted stream, and combine: the same walk over the carries of the level
 * before, until one task is left.
 */
const recordWalk = (
  kernels: Kernels,
  { plan }: Batch,
  { accounts: { checksum } }: WindowGroup,
  { finitePoints }: Accounts,
  bases: Slice,
): Command[] => {
  // reduce adds each bucket to one sum by its high bits and to one by its low bits
  const accounts = { checksum, finite_points: finitePoints, per_sum: 2, per_point: 0, read_back: 0 };
  return plan.levelTasks.map((tasks, level) => {
    const to = level % 2 === 0 ? 'A' : 'B';
    const from = to === 'A' ? 'B' : 'A';
    const isFirst = level === 0;
    return recordOneWalk(kernels, plan, {
      phase: isFirst ? 'walk' : 'combine',
      config: { level, ...accounts },
      tasks,
      to,
      buffers: {
        stream: scratch(isFirst ? sortBuffer(plan.sortPasses.length) : `carries${from}`),
        points: isFirst ? bases : scratch(`partials${from}`),
        sums: scratch('buckets'),
      },
    });
  });
};

/** Records the conversion of the last sums to affine coordinates, for the host. */
const recordNormalize = (kernels: Kernels, batch: Batch, extended: Slice, readBack: number): Command => {
  const { bitSums } = batch.plan.reduce;
  return {
    kind: 'dispatch',
    phase: 'reduce',
    kernel: kernels.normalize(),
    config: NormalizeConfig.pack({ sums: bitSums, read_back: readBack }),
    bindings: { extended, sums: ownSlice(batch, 'bitSums') },
    groups: groupsFor(bitSums, NORMALIZE_THREADS),
  };
};

/** −1 modulo 2^32. */
const MINUS_ONE = 0xffffffff;

const recordReduce = (
  kernels: Kernels,
  batch: Batch,
  { reduce: { entries, checksum }, finitePoints, readBack }: Accounts,
): Command[] => {
  const { plan } = batch;
  const accounts = { checksum, finite_points: finitePoints, per_sum: 0 };
  const { reduce } = plan;
  const streams = {
    split: scratch('entriesA'),
    bits: scratch('entriesB'),
    fold: scratch('entriesB', 4 * ENTRY_WORDS * reduce.foldFirst),
  };
  const sumsOf = (walk: number): Slice => scratch(walk % 2 === 0 ? 'splitSums' : 'foldSums');
  const last = reduce.walks.length - 1;
  const isExtended = plan.tuning.walkerCoordinates === 'xyzz';
  return [
    {
      kind: 'dispatch',
      phase: 'reduce',
      kernel: kernels.reduce(),
      config: ReduceConfig.pack({
        high_bits: reduce.highBits,
        low_bits: reduce.lowBits,
        split_entries: reduce.splitEntries,
        split_run_bits: reduce.splitRunBits,
        split_folds: reduce.splitFolds,
        bits_entries: reduce.bitsEntries,
        bits_run_bits: reduce.bitsRunBits,
        bits_folds: reduce.bitsFolds,
        fold_entries: reduce.foldEntries,
        fold_first: reduce.foldFirst,
        fold_bits: reduce.foldBits,
        entries_account: entries,
      }),
      // the sort needs these buffers no more
      bindings: { split: scratch('entriesA'), bits: scratch('entriesB') },
      groups: groupsFor(Math.max(reduce.splitEntries, reduce.bitsEntries, reduce.foldEntries), REDUCE_THREADS),
    },
    ...reduce.walks.map(({ stream, tasks }, i) => {
      const [isFirst, isLast] = [i === 0, i === last];
      const level = plan.levelTasks.length + i;
      const counted = { per_point: isFirst ? MINUS_ONE : 0, read_back: isLast ? readBack : 0 };
      return recordOneWalk(kernels, plan, {
        phase: 'reduce',
        config: { level, ...accounts, ...counted },
        tasks,
        to: 'A',
        buffers: {
          stream: streams[stream],
          points: isFirst ? scratch('buckets') : sumsOf(i - 1),
          sums: isLast && !isExtended ? ownSlice(batch, 'bitSums') : sumsOf(i),
        },
      });
    }),
    ...(isExtended ? [recordNormalize(kernels, batch, sumsOf(last), readBack)] : []),
  ];
};

/* Buffers that the commands of a batch read and write. */

/** Returns a slice of a scratch buffer. */
const scratch = (buffer: ScratchName, offset?: number, size?: number): Slice => ({
  buffer,
  ...(offset === undefined ? {} : { offset }),
  ...(size === undefined ? {} : { size }),
});

/** A group of windows, [first, first + count), that is sorted and walked at once. */
interface WindowGroup {
  readonly accounts: GroupAccounts;
  readonly first: number;
  readonly count: number;
}

/** Returns a batch's slice of a buffer that all batches share. */
const ownSlice = ({ plan, at }: Batch, buffer: Exclude<OwnName, 'accounts'>): Slice => ({
  buffer: buffer === 'bitSums' ? RESULT : buffer,
  offset: at[buffer],
  size: plan.scratch[buffer],
});

/**
 * Returns the buffer that a sort pass reads. A pass writes the buffer of the next pass; the last
 * pass writes the sorted stream.
 */
const sortBuffer = (pass: number): ScratchName => (pass % 2 === 0 ? 'entriesA' : 'entriesB');
