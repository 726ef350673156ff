import { type Command, groupsFor, type Slice } from './gpu/recording.js';
import type { Kernels } from './kernels.js';
import type { Plan, ScratchName } from './planner.js';
import { DECOMPOSE_THREADS, DecomposeConfig } from './stages/decompose.js';
import { LEVEL_DISPATCH_OFFSET, Level } from './stages/level.js';
import { PartitionConfig } from './stages/partition.js';
import { REDUCE_THREADS, ReduceConfig } from './stages/reduce.js';
import { SortConfig } from './stages/sort.js';
import { WalkConfig } from './stages/walk.js';

/** Where the chunk's bases are: the external buffer `bases`, from a slice's offset on, `first` points into the slice. */
export interface BasesRange {
  readonly slice: Slice;
  readonly first: number;
}

/** A slice of scratch; the type checker knows the names. */
const scratch = (buffer: ScratchName, offset?: number, size?: number): Slice => ({
  buffer,
  ...(offset === undefined ? {} : { offset }),
  ...(size === undefined ? {} : { size }),
});

/** Windows [first, first + count). */
interface WindowGroup {
  readonly first: number;
  readonly count: number;
}

const windowGroups = ({ windows, windowsPerGroup, groups }: Plan): WindowGroup[] =>
  Array.from({ length: groups }, (_, i) => {
    const first = i * windowsPerGroup;
    return { first, count: Math.min(windowsPerGroup, windows - first) };
  });

/** The commands of one chunk of `n` scalars, at most as many as the plan is for. Its results are `bitSums` and `tally`. */
export const recordMsm = (kernels: Kernels, plan: Plan, n: number, bases: BasesRange): Command[] => [
  // infinity for buckets that nothing falls into; all others have exactly one writer
  { kind: 'clear', slice: scratch('buckets', 0, plan.scratch.buckets) },
  { kind: 'clear', slice: scratch('tally', 0, plan.scratch.tally) },
  ...windowGroups(plan).flatMap((group): Command[] => [
    ...(group.first === 0 ? [] : [{ kind: 'submit' } as const]),
    ...recordDecompose(kernels, plan, n, bases.first, group),
    ...recordSort(kernels, plan, n, group),
    ...recordPartition(kernels, plan, group),
    ...recordWalk(kernels, plan, bases.slice),
  ]),
  ...(plan.reduceApart ? [{ kind: 'submit' } as const] : []),
  ...recordReduce(kernels, plan),
];

const recordDecompose = (
  kernels: Kernels,
  { tuning }: Plan,
  n: number,
  firstBase: number,
  group: WindowGroup,
): Command[] => [
  {
    kind: 'dispatch',
    phase: 'decompose',
    kernel: kernels.decompose(),
    config: DecomposeConfig.pack({
      scalars: n,
      window_bits: tuning.windowBits,
      first_window: group.first,
      windows: group.count,
      first_base: firstBase,
    }),
    bindings: { scalars: scratch('scalars'), entries: scratch('entriesA') },
    groups: groupsFor(n, DECOMPOSE_THREADS),
  },
];

/** The buffer that a sort pass reads; it writes the other one. The last pass's target is the sorted stream. */
const sortBuffer = (pass: number): ScratchName => (pass % 2 === 0 ? 'entriesA' : 'entriesB');

const recordSort = (kernels: Kernels, plan: Plan, n: number, group: WindowGroup): Command[] => {
  const { count, scan, scatter } = kernels.sort(plan.tuning.sortThreadsPerWorkgroup, plan.tuning.sortEntriesPerThread);
  return plan.sortPasses.flatMap(({ shift, bits }, pass): Command[] => {
    const config = SortConfig.pack({
      slab: n,
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

const recordPartition = (kernels: Kernels, { tuning, levelTasks, reduce }: Plan, group: WindowGroup): Command[] => [
  {
    kind: 'dispatch',
    phase: 'partition',
    kernel: kernels.partition(),
    config: PartitionConfig.pack({
      windows: group.count,
      entries_per_task: tuning.walkerEntriesPerTask,
      most_tasks: levelTasks[0] as number,
      levels: levelTasks.length,
      slots: tuning.walkerSlots,
      least_threads: tuning.walkerLeastThreads,
      threads_per_group: tuning.walkerThreadsPerWorkgroup,
      split_entries: reduce.splitEntries,
      split_tasks: reduce.splitTasks,
      bits_entries: reduce.bitsEntries,
      bits_tasks: reduce.bitsTasks,
    }),
    bindings: { totals: scratch('totals'), levels: scratch('levels'), tally: scratch('tally') },
    groups: [1, 1],
  },
];

const levelDispatch = (level: number): Slice => scratch('levels', level * Level.byteLength + LEVEL_DISPATCH_OFFSET, 12);

/** One walk; `to` names the pair of buffers that takes its places. */
const walkCommand = (
  kernels: Kernels,
  { tuning }: Plan,
  phase: string,
  level: number,
  buffers: { readonly stream: Slice; readonly points: Slice; readonly sums: Slice },
  to: 'A' | 'B',
): Command => ({
  kind: 'dispatch',
  phase,
  kernel: kernels.walk({
    prefixMemory: tuning.walkerPrefixMemory,
    threads: tuning.walkerThreadsPerWorkgroup,
    slots: tuning.walkerSlots,
  }),
  config: WalkConfig.pack({ level }),
  bindings: {
    ...buffers,
    levels: scratch('levels'),
    places: scratch(`places${to}`),
    partials: scratch(`partials${to}`),
  },
  groups: levelDispatch(level),
});

/** The walk over the sorted stream, and the same walk over its partial sums, level by level: combine. */
const recordWalk = (kernels: Kernels, plan: Plan, bases: Slice): Command[] => [
  ...plan.levelTasks.map((_, level) => {
    const to = level % 2 === 0 ? 'A' : 'B';
    const from = to === 'A' ? 'B' : 'A';
    const sums = scratch('buckets');
    return level === 0
      ? walkCommand(
          kernels,
          plan,
          'walk',
          level,
          { stream: scratch(sortBuffer(plan.sortPasses.length)), points: bases, sums },
          to,
        )
      : walkCommand(
          kernels,
          plan,
          'combine',
          level,
          { stream: scratch(`places${from}`), points: scratch(`partials${from}`), sums },
          to,
        );
  }),
];

const recordReduce = (kernels: Kernels, plan: Plan): Command[] => {
  const { highBits, lowBits, splitEntries, bitsEntries, bitsRun } = plan.reduce;
  const levels = plan.levelTasks.length;
  return [
    {
      kind: 'dispatch',
      phase: 'reduce',
      kernel: kernels.reduce(),
      config: ReduceConfig.pack({
        high_bits: highBits,
        low_bits: lowBits,
        split_entries: splitEntries,
        bits_entries: bitsEntries,
        bits_run: bitsRun,
      }),
      // the sort is done with both
      bindings: { split: scratch('entriesA'), bits: scratch('entriesB') },
      groups: groupsFor(Math.max(splitEntries, bitsEntries), REDUCE_THREADS),
    },
    walkCommand(
      kernels,
      plan,
      'reduce',
      levels,
      { stream: scratch('entriesA'), points: scratch('buckets'), sums: scratch('splitSums') },
      'A',
    ),
    walkCommand(
      kernels,
      plan,
      'reduce',
      levels + 1,
      { stream: scratch('entriesB'), points: scratch('splitSums'), sums: scratch('bitSums') },
      'A',
    ),
  ];
};
