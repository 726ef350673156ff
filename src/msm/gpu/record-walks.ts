/** Records the walks of a batch: over the sorted stream, its partial sums, and in the reduction. */
import type { Command, Dispatch, Slice } from '../../shaders/commands.js';
import { groupsFor } from '../../shaders/limits.js';
import type { Accounts } from '../plan/accounts.js';
import type { Plan } from '../plan/planner.js';
import type { Batch } from '../plan/schedule.js';
import { ENTRY_WORDS } from '../stages/entry.js';
import type { Kernels } from '../stages/kernels.js';
import { NORMALIZE_THREADS, NormalizeConfig } from '../stages/normalize.js';
import { threadsOf } from '../stages/partition.js';
import { REDUCE_THREADS, ReduceConfig } from '../stages/reduce.js';
import { WalkConfig } from '../stages/walk.js';
import { WalkXyzzConfig } from '../stages/walk-xyzz.js';
import { ownSlice, scratch, sortBuffer, type WindowGroup } from './record-buffers.js';

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

/**
 * Records one walk over a stream of entries.
 *
 * @param tasks the most tasks
 * @param to buffers that receive the carries and their partial sums
 */
const recordOneWalk = (
  kernels: Kernels,
  plan: Plan,
  phase: 'walk' | 'combine' | 'reduce',
  config: Parameters<typeof WalkConfig.pack>[0],
  tasks: number,
  to: 'A' | 'B',
  buffers: Readonly<Record<'stream' | 'points' | 'sums', Slice>>,
): Command => ({
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
export const recordWalk = (
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
    return recordOneWalk(kernels, plan, isFirst ? 'walk' : 'combine', { level, ...accounts }, tasks, to, {
      stream: scratch(isFirst ? sortBuffer(plan.sortPasses.length) : `carries${from}`),
      points: isFirst ? bases : scratch(`partials${from}`),
      sums: scratch('buckets'),
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

export const recordReduce = (
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
      return recordOneWalk(kernels, plan, 'reduce', { level, ...accounts, ...counted }, tasks, 'A', {
        stream: streams[stream],
        points: isFirst ? scratch('buckets') : sumsOf(i - 1),
        sums: isLast && !isExtended ? ownSlice(batch, 'bitSums') : sumsOf(i),
      });
    }),
    ...(isExtended ? [recordNormalize(kernels, batch, sumsOf(last), readBack)] : []),
  ];
};
