import type { Command, Slice } from '../gpu/commands.js';
import type { CheckScratchName, Plan, ScratchName } from '../plan/planner.js';
import type { Job, OwnName, Part } from '../plan/schedule.js';
import { groupsFor } from '../shaders/limits.js';
import { DECOMPOSE_THREADS, DecomposeConfig } from '../stages/decompose.js';
import type { Kernels } from '../stages/kernels.js';
import { LEVEL_DISPATCH_OFFSET, Level } from '../stages/level.js';
import { PartitionConfig } from '../stages/partition.js';
import { REDUCE_THREADS, ReduceConfig } from '../stages/reduce.js';
import { SortConfig } from '../stages/sort.js';
import { WalkConfig } from '../stages/walk.js';
import { type CheckedWalk, CheckRecorder } from './checks.js';

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

/**
 * The commands of a job. Its input is in `scalars` and `vectors`, its results are in `bitSums` and `tally`, each part's in its own stretch.
 *
 * @param bases the slice of them that a part binds
 */
export const recordJob = (kernels: Kernels, { parts }: Job, bases: (part: Part) => Slice): Command[] =>
  parts.flatMap((part, i) => [
    ...(part.apart && i > 0 ? [{ kind: 'submit' } as const] : []),
    ...recordPart(kernels, part, bases(part)),
  ]);

const recordPart = (kernels: Kernels, part: Part, bases: Slice): Command[] => {
  const { plan } = part;
  const checks = new CheckRecorder(kernels, part);
  return [
    // infinity for buckets that nothing falls into; all others have exactly one writer
    { kind: 'clear', slice: scratch('buckets', 0, plan.scratch.buckets) },
    { kind: 'clear', slice: ownSlice(part, 'tally') },
    ...checks.begin(),
    ...windowGroups(plan).flatMap((group): Command[] => [
      ...(group.first === 0 ? [] : [{ kind: 'submit' } as const]),
      ...checks.poison('digits', 'entriesA', 'entriesB', 'counts', 'totals', 'levels'),
      ...recordDecompose(kernels, part, group),
      ...recordSort(kernels, part, group),
      ...checks.sorted(scratch(sortBuffer(plan, plan.sortPasses.length)), group),
      ...recordPartition(kernels, part, group),
      ...recordWalk(kernels, part, checks, slabOf(part) * group.count, bases),
    ]),
    ...checks.sums(
      plan.levelTasks.length - 1,
      scratch('buckets', 0, plan.scratch.buckets),
      'bucketWriters',
      plan.windows * plan.buckets,
    ),
    ...(plan.reduceApart ? [{ kind: 'submit' } as const] : []),
    ...recordReduce(kernels, part, checks),
  ];
};

/** A part's stretch of a buffer that all parts share. */
const ownSlice = ({ plan, at }: Part, buffer: OwnName): Slice =>
  scratch(buffer, at[buffer], plan.scratch[buffer] as number);

/** Entries of one window. */
const slabOf = ({ plan, n }: Part): number => n * plan.pieces;

const recordDecompose = (kernels: Kernels, part: Part, group: WindowGroup): Command[] => {
  const { plan, n } = part;
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
        pieces: plan.pieces,
        piece_bits: plan.pieceBits,
        tables: plan.tables,
        vector_windows: plan.vectorWindows,
        first_window: group.first,
        windows: group.count,
      }),
      bindings: {
        vectors: ownSlice(part, 'vectors'),
        picks: ownSlice(part, 'picks'),
        scalars: ownSlice(part, 'scalars'),
        entries: scratch(sortBuffer(plan, 0)),
      },
      groups: groupsFor(n * vectors, DECOMPOSE_THREADS),
    },
  ];
};

/**
 * The buffer that a sort pass reads; it writes that of the next. The last pass's target is the sorted stream. With checks the first
 * one's source is kept, to compare.
 */
const sortBuffer = ({ tuning }: Plan, pass: number): ScratchName | CheckScratchName =>
  pass === 0 && tuning.checks ? 'digits' : pass % 2 === 0 ? 'entriesA' : 'entriesB';

const recordSort = (kernels: Kernels, part: Part, group: WindowGroup): Command[] => {
  const { plan } = part;
  const { count, scan, scatter } = kernels.sort(plan.tuning.sortThreadsPerWorkgroup, plan.tuning.sortEntriesPerThread);
  return plan.sortPasses.flatMap(({ shift, bits }, pass): Command[] => {
    const config = SortConfig.pack({
      slab: slabOf(part),
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

const recordPartition = (kernels: Kernels, part: Part, group: WindowGroup): Command[] => {
  const { tuning, levelTasks, reduce } = part.plan;
  return [
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
      bindings: { totals: scratch('totals'), levels: scratch('levels'), tally: ownSlice(part, 'tally') },
      groups: [1, 1],
    },
  ];
};

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
  { plan }: Part,
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

const recordReduce = (kernels: Kernels, part: Part, checks: CheckRecorder): Command[] => {
  const { plan } = part;
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
    ...checks.sums(split.level, scratch('splitSums', 0, plan.scratch.splitSums), 'splitWriters', splitTasks),
    ...checks.poison('bitSums'),
    ...walkCommands(kernels, plan, checks, 'reduce', bits, {
      points: scratch('splitSums'),
      sums: ownSlice(part, 'bitSums'),
    }),
    ...checks.sums(bits.level, ownSlice(part, 'bitSums'), 'bitWriters', bitsTasks),
  ];
};
