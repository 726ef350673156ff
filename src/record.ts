import { type Command, groupsFor, type Slice } from './gpu/recording.js';
import type { Kernels } from './kernels.js';
import type { CheckScratchName, Plan, ScratchName } from './planner.js';
import { type CheckedWalk, CheckRecorder } from './record-checks.js';
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
const scratch = (buffer: ScratchName | CheckScratchName, offset?: number, size?: number): Slice => ({
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
export const recordMsm = (kernels: Kernels, plan: Plan, n: number, bases: BasesRange): Command[] => {
  const checks = new CheckRecorder(kernels, plan);
  return [
    // infinity for buckets that nothing falls into; all others have exactly one writer
    { kind: 'clear', slice: scratch('buckets', 0, plan.scratch.buckets) },
    { kind: 'clear', slice: scratch('tally', 0, plan.scratch.tally) },
    ...checks.begin(),
    ...windowGroups(plan).flatMap((group): Command[] => [
      ...(group.first === 0 ? [] : [{ kind: 'submit' } as const]),
      ...checks.poison('digits', 'entriesA', 'entriesB', 'counts', 'totals', 'levels'),
      ...recordDecompose(kernels, plan, n, bases.first, group),
      ...recordSort(kernels, plan, n, group),
      ...checks.sorted(scratch(sortBuffer(plan, plan.sortPasses.length)), n, bases.first, group),
      ...recordPartition(kernels, plan, group),
      ...recordWalk(kernels, plan, checks, n * group.count, bases.slice),
    ]),
    ...checks.sums(plan.levelTasks.length - 1, 'buckets', 'bucketWriters', plan.windows * plan.buckets),
    ...(plan.reduceApart ? [{ kind: 'submit' } as const] : []),
    ...recordReduce(kernels, plan, checks),
  ];
};

const recordDecompose = (kernels: Kernels, plan: Plan, n: number, firstBase: number, group: WindowGroup): Command[] => [
  {
    kind: 'dispatch',
    phase: 'decompose',
    kernel: kernels.decompose(),
    config: DecomposeConfig.pack({
      scalars: n,
      window_bits: plan.tuning.windowBits,
      first_window: group.first,
      windows: group.count,
      first_base: firstBase,
    }),
    bindings: { scalars: scratch('scalars'), entries: scratch(sortBuffer(plan, 0)) },
    groups: groupsFor(n, DECOMPOSE_THREADS),
  },
];

/**
 * The buffer that a sort pass reads; it writes that of the next. The last pass's target is the sorted stream. With checks the first
 * one's source is kept, to compare.
 */
const sortBuffer = ({ tuning }: Plan, pass: number): ScratchName | CheckScratchName =>
  pass === 0 && tuning.checks ? 'digits' : pass % 2 === 0 ? 'entriesA' : 'entriesB';

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
    const common = { entries: scratch(sortBuffer(plan, pass)), counts: scratch('counts'), totals: scratch('totals') };
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
        bindings: { entries, totals, counts, sorted: scratch(sortBuffer(plan, pass + 1)) },
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

/** One walk, with its checks. */
const walkCommands = (
  kernels: Kernels,
  { tuning }: Plan,
  checks: CheckRecorder,
  phase: string,
  walk: CheckedWalk,
  buffers: { readonly points: Slice; readonly sums: Slice },
): Command[] => [
  ...checks.beforeWalk(walk),
  {
    kind: 'dispatch',
    phase,
    kernel: kernels.walk({
      prefixMemory: tuning.walkerPrefixMemory,
      threads: tuning.walkerThreadsPerWorkgroup,
      slots: tuning.walkerSlots,
      carry: tuning.fieldCarry,
      checks: tuning.checks,
    }),
    config: WalkConfig.pack({ level: walk.level }),
    bindings: {
      ...buffers,
      ...checks.walkBindings(walk.writers),
      stream: walk.stream,
      levels: scratch('levels'),
      places: scratch(`places${walk.to}`),
      partials: scratch(`partials${walk.to}`),
    },
    groups: levelDispatch(walk.level),
  },
  ...checks.afterWalk(walk),
];

/** The walk over the sorted stream, and the same walk over its partial sums, level by level: combine. */
const recordWalk = (
  kernels: Kernels,
  plan: Plan,
  checks: CheckRecorder,
  mostEntries: number,
  bases: Slice,
): Command[] =>
  plan.levelTasks.flatMap((_, level) => {
    const to = level % 2 === 0 ? 'A' : 'B';
    const from = to === 'A' ? 'B' : 'A';
    const isFirst = level === 0;
    const walk: CheckedWalk = {
      level,
      entries: isFirst ? mostEntries : 2 * (plan.levelTasks[level - 1] as number),
      stream: scratch(isFirst ? sortBuffer(plan, plan.sortPasses.length) : `places${from}`),
      writers: 'bucketWriters',
      keys: plan.windows * plan.buckets,
      to,
      last: level === plan.levelTasks.length - 1,
    };
    const points = isFirst ? bases : scratch(`partials${from}`);
    return walkCommands(kernels, plan, checks, isFirst ? 'walk' : 'combine', walk, {
      points,
      sums: scratch('buckets'),
    });
  });

const recordReduce = (kernels: Kernels, plan: Plan, checks: CheckRecorder): Command[] => {
  const { highBits, lowBits, splitTasks, splitEntries, bitsTasks, bitsEntries } = plan.reduce;
  const levels = plan.levelTasks.length;
  const split: CheckedWalk = {
    level: levels,
    entries: splitEntries,
    stream: scratch('entriesA'),
    writers: 'splitWriters',
    keys: splitTasks,
    to: 'A',
    last: true,
  };
  const bits: CheckedWalk = {
    level: levels + 1,
    entries: bitsEntries,
    stream: scratch('entriesB'),
    writers: 'bitWriters',
    keys: bitsTasks,
    to: 'A',
    last: true,
  };
  return [
    ...checks.poison('entriesA', 'entriesB'),
    {
      kind: 'dispatch',
      phase: 'reduce',
      kernel: kernels.reduce(),
      config: ReduceConfig.pack({
        high_bits: highBits,
        low_bits: lowBits,
        split_entries: splitEntries,
        bits_entries: bitsEntries,
      }),
      // the sort is done with both
      bindings: { split: scratch('entriesA'), bits: scratch('entriesB') },
      groups: groupsFor(Math.max(splitEntries, bitsEntries), REDUCE_THREADS),
    },
    ...checks.poison('splitSums'),
    ...walkCommands(kernels, plan, checks, 'reduce', split, {
      points: scratch('buckets'),
      sums: scratch('splitSums'),
    }),
    ...checks.sums(split.level, 'splitSums', 'splitWriters', splitTasks),
    ...checks.poison('bitSums'),
    ...walkCommands(kernels, plan, checks, 'reduce', bits, {
      points: scratch('splitSums'),
      sums: scratch('bitSums'),
    }),
    ...checks.sums(bits.level, 'bitSums', 'bitWriters', bitsTasks),
  ];
};
