import type { Command, Slice } from '../gpu/commands.js';
import type { Checks } from '../msm/gpu/checks.js';
import type { CheckScratchName } from '../msm/plan/checks.js';
import type { ScratchName } from '../msm/plan/planner.js';
import type { CheckName } from '../msm/stages/checks.js';
import { CHECK_THREADS, type CheckConfig, packConfig } from './kernels.js';

type Name = ScratchName | CheckScratchName;

/** What a walk is to read and write. */
interface WalkShape {
  /** The most entries that its stream may have. */
  readonly entries: number;
  readonly writers: CheckScratchName;
  /** Sums, of which the writers are noted. */
  readonly keys: number;
  /** Nothing may be left to combine. */
  readonly last: boolean;
}

/**
 * Each dispatch of a part is known by its kernel, and says by its bindings where its stage reads and writes. What decompose writes goes to a
 * buffer of its own, so that it is still there when its copies were sorted.
 */
export const weave: Checks['weave'] = ({ kernels, groupsFor }, { plan, n }, commands) => {
  const { levelTasks, reduce, scratch, blocks, tables, buckets, windows, vectorWindows } = plan;
  const own = kernels.checks();
  const levels = levelTasks.length;
  const rowLength = n * blocks;

  /** A slice of the length that this plan needs; the pool may keep a longer buffer. */
  const sized = (slice: Slice): Slice & { readonly size: number } => {
    const { buffer, offset = 0, size = scratch[buffer as Name] as number } = slice;
    return { buffer, offset, size };
  };
  const all = (...names: Name[]): Slice[] => names.map((buffer) => ({ buffer }));

  /** Fills what the stages ahead are to write. */
  const poison = (slices: readonly Slice[]): Command[] =>
    slices.map(sized).map((words) => ({
      kind: 'dispatch',
      phase: 'checks',
      kernel: own.poison,
      bindings: { words },
      groups: groupsFor(words.size / 4, CHECK_THREADS),
    }));

  const check = (
    name: Exclude<CheckName, 'poison'>,
    items: number,
    config: CheckConfig,
    bindings: Record<string, Slice>,
  ): Command => ({
    kind: 'dispatch',
    phase: 'checks',
    kernel: own[name],
    config: packConfig(config),
    bindings,
    groups: groupsFor(items, CHECK_THREADS),
  });

  const checkSums = (level: number, sums: Slice, { keys, writers }: Pick<WalkShape, 'keys' | 'writers'>): Command =>
    check('sums', keys, { level, keys }, { sums: sized(sums), writers: { buffer: writers } });

  const digits: Slice = { buffer: 'digits' satisfies CheckScratchName };
  const ofBuckets = { writers: 'bucketWriters', keys: windows * buckets } as const;
  /** The most tasks of a walk. */
  const tasksOf = (level: number): number => Math.max(levelTasks[level] ?? 0, reduce.splitTasks, reduce.bitsTasks);

  // of the dispatches so far
  let groups = 0;
  let level = 0;
  let isSorting = false;
  let vectors: Slice = { buffer: 'vectors' };
  let stream: Slice = digits;

  /** Windows of the group at hand. */
  const group = (): { first: number; count: number } => {
    const first = (groups - 1) * plan.windowsPerGroup;
    return { first, count: Math.min(plan.windowsPerGroup, windows - first) };
  };

  const shapeOf = (level: number): WalkShape => {
    if (level < levels) {
      const entries = level === 0 ? rowLength * group().count : 2 * (levelTasks[level - 1] as number);
      return { entries, ...ofBuckets, last: level === levels - 1 };
    }
    return level === levels
      ? { entries: reduce.splitEntries, writers: 'splitWriters', keys: reduce.splitTasks, last: true }
      : { entries: reduce.bitsEntries, writers: 'bitWriters', keys: reduce.bitsTasks, last: true };
  };

  const woven = commands.flatMap((command): Command[] => {
    if (command.kind !== 'dispatch') return [command];
    const { bindings } = command;
    const bound = (name: string): Slice => bindings[name] as Slice;
    switch (command.kernel.name) {
      case 'decompose':
        groups++;
        level = 0;
        isSorting = false;
        vectors = bound('vectors');
        return [
          ...poison(all('digits', 'entriesA', 'entriesB', 'counts', 'totals', 'levels')),
          { ...command, bindings: { ...bindings, entries: digits } },
        ];
      case 'sort_count':
        return [isSorting ? command : { ...command, bindings: { ...bindings, entries: digits } }];
      case 'sort_scatter': {
        const entries = isSorting ? bound('entries') : digits;
        isSorting = true;
        stream = bound('sorted');
        return [{ ...command, bindings: { ...bindings, entries } }];
      }
      case 'partition_stream': {
        const { first, count } = group();
        const shape = { row_length: rowLength, windows: count, first_window: first, vector_windows: vectorWindows };
        const config = { ...shape, buckets, blocks, tables };
        const read = { vectors, totals: bound('totals'), digits, stream };
        return [check('sorted', rowLength * count, config, read), command];
      }
      case 'reduce':
        return [
          checkSums(levels - 1, { buffer: 'buckets' }, ofBuckets),
          ...poison(all('entriesA', 'entriesB')),
          command,
        ];
      case 'walk': {
        const at = level++;
        const shape = shapeOf(at);
        const writers = { buffer: shape.writers };
        const ownSums = at >= levels;
        const [carries, partials] = [bound('carries'), bound('partials')];
        const walked = { levels: bound('levels'), stream: bound('stream'), writers };
        const left = { levels: bound('levels'), carries, partials };
        return [
          ...(ownSums ? poison([bound('sums')]) : []),
          check('stream', shape.entries, { level: at, keys: shape.keys }, walked),
          ...poison([carries, partials]),
          { ...command, bindings: { ...bindings, writers } },
          check('partials', 2 * tasksOf(at), { level: at, last: shape.last ? 1 : 0 }, left),
          ...(ownSums ? [checkSums(at, bound('sums'), shape)] : []),
        ];
      }
      default:
        return [command];
    }
  });
  const none = all('bucketWriters', 'splitWriters', 'bitWriters').map(
    (slice): Command => ({ kind: 'clear', slice: sized(slice) }),
  );
  return [...none, ...woven];
};

/** How many dispatches they are. */
export const checkDispatches = (groups: number, levels: number): number =>
  groups * (6 + 1 + 4 * levels) + 1 + 2 + 2 * (1 + 4 + 1);
