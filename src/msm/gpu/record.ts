/** Records the commands of a job: the stages of each batch in order. */
import type { Command, Slice } from '../../shaders/commands.js';
import { groupsFor } from '../../shaders/limits.js';
import { type Accounts, accountsOf } from '../plan/accounts.js';
import type { Plan } from '../plan/planner.js';
import type { Batch, Job } from '../plan/schedule.js';
import { DECOMPOSE_THREADS, DecomposeConfig } from '../stages/decompose.js';
import type { Kernels } from '../stages/kernels.js';
import { PartitionConfig } from '../stages/partition.js';
import { SortConfig } from '../stages/sort.js';
import { ownSlice, scratch, sortBuffer, type WindowGroup } from './record-buffers.js';
import { recordReduce, recordWalk } from './record-walks.js';

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
