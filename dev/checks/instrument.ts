import type { ScratchName } from '../../src/msm/plan/planner.js';
import type { Instrument, InstrumentedPlan, InstrumentedSizes } from '../../src/msm/stages/kernels.js';
import type { Command, Slice } from '../../src/shaders/kernel.js';
import { groupsFor } from '../../src/shaders/limits.js';
import { findingsWords, readFindings } from './findings.js';
import {
  CHECK_THREADS,
  type CheckConfig,
  type CheckKernels,
  type CheckName,
  checkKernels,
  packConfig,
  watch,
} from './kernels.js';

/** Scratch buffers of the checks. */
type CheckScratchName = 'digits' | 'bucketWriters' | 'sumWriters';

type Name = ScratchName | CheckScratchName;

/** Returns the most tasks of a walk of the reduction. */
const mostTasksOf = (walks: InstrumentedSizes['walks']): number => Math.max(...walks.map(({ tasks }) => tasks));

const checkScratch = ({
  streamBytes,
  buckets,
  walks,
}: InstrumentedSizes): Readonly<Record<CheckScratchName, number>> => ({
  digits: streamBytes,
  bucketWriters: 4 * buckets,
  sumWriters: 4 * mostTasksOf(walks),
});

/** Returns how many dispatches the checks add. */
const checkDispatches = (groups: number, levels: number, walks: number): number =>
  groups * (6 + 1 + 4 * levels) + 1 + 2 + walks * (1 + 4 + 1);

/** Stream and sums of a walk. */
interface WalkShape {
  /** The most entries that its stream may have. */
  readonly entries: number;
  readonly writers: CheckScratchName;
  /** Sums whose writers are noted. */
  readonly keys: number;
  /** The walk leaves nothing to combine. */
  readonly last: boolean;
}

type Dispatch = Extract<Command, { kind: 'dispatch' }>;

const digits: Slice = { buffer: 'digits' satisfies CheckScratchName };

const all = (...names: Name[]): Slice[] => names.map((buffer) => ({ buffer }));

/**
 * Goes through the commands of a batch in order and adds the checks. Each dispatch is recognised by
 * its kernel; its bindings say where its stage reads and writes. Decompose is redirected to a
 * buffer of its own, so that its digits still exist after their copies were sorted.
 */
class Instrumentation {
  readonly #kernels: CheckKernels;
  readonly #plan: InstrumentedPlan;
  readonly #levels: number;
  readonly #rowLength: number;
  /** Groups and levels that were begun so far. */
  #groups = 0;
  #level = 0;
  #isSorting = false;
  #vectors: Slice = { buffer: 'vectors' };
  #stream: Slice = digits;

  constructor(kernels: CheckKernels, plan: InstrumentedPlan, n: number) {
    this.#kernels = kernels;
    this.#plan = plan;
    this.#levels = plan.levelTasks.length;
    this.#rowLength = n * plan.blocks;
  }

  /** Clears the notes about the writers of buckets, before all other commands. */
  begin(): Command[] {
    return [this.#clear('bucketWriters')];
  }

  around(command: Command): Command[] {
    if (command.kind !== 'dispatch') return [command];
    switch (command.kernel.name) {
      case 'decompose':
        return this.#aroundDecompose(command);
      case 'sort_count':
        return [this.#isSorting ? command : this.#readingDigits(command)];
      case 'sort_scatter': {
        const redirected = this.#isSorting ? command : this.#readingDigits(command);
        this.#isSorting = true;
        this.#stream = command.bindings.sorted as Slice;
        return [redirected];
      }
      case 'partition_stream':
        return this.#beforePartition(command);
      case 'reduce':
        return [
          this.#checkSums(this.#levels - 1, { buffer: 'buckets' }, this.#ofBuckets),
          ...this.#poison(all('entriesA', 'entriesB')),
          command,
        ];
      case 'walk':
      case 'walk_xyzz':
        return this.#aroundWalk(command);
      default:
        return [command];
    }
  }

  #aroundDecompose(command: Dispatch): Command[] {
    this.#groups++;
    this.#level = 0;
    this.#isSorting = false;
    this.#vectors = command.bindings.vectors as Slice;
    return [
      ...this.#poison(all('digits', 'entriesA', 'entriesB', 'counts', 'totals', 'levels')),
      this.#readingDigits(command),
    ];
  }

  #beforePartition(command: Dispatch): Command[] {
    const { vectorWindows, buckets, blocks, tables } = this.#plan;
    const { first, count } = this.#group();
    const shape = { row_length: this.#rowLength, windows: count, first_window: first, vector_windows: vectorWindows };
    const config = { ...shape, buckets, blocks, tables };
    const totals = command.bindings.totals as Slice;
    const read = { vectors: this.#vectors, totals, digits, stream: this.#stream };
    return [this.#check('sorted', this.#rowLength * count, config, read), command];
  }

  #aroundWalk(command: Dispatch): Command[] {
    const { bindings } = command;
    const bound = (name: string): Slice => bindings[name] as Slice;
    const level = this.#level++;
    const shape = this.#shapeOf(level);
    const writers = { buffer: shape.writers };
    const ownSums = level >= this.#levels;
    const [carries, partials] = [bound('carries'), bound('partials')];
    const walked = { levels: bound('levels'), stream: bound('stream'), writers };
    const left = { levels: bound('levels'), carries, partials };
    const mostTasks = Math.max(this.#plan.levelTasks[level] ?? 0, mostTasksOf(this.#plan.reduce.walks));
    return [
      ...(ownSums ? [this.#clear('sumWriters'), ...this.#poison([bound('sums')])] : []),
      this.#check('stream', shape.entries, { level, keys: shape.keys }, walked),
      ...this.#poison([carries, partials]),
      { ...command, bindings: { ...bindings, writers } },
      this.#check('partials', 2 * mostTasks, { level, last: shape.last ? 1 : 0 }, left),
      ...(ownSums ? [this.#checkSums(level, bound('sums'), shape)] : []),
    ];
  }

  #shapeOf(level: number): WalkShape {
    const { levelTasks, reduce } = this.#plan;
    if (level < this.#levels) {
      const entries = level === 0 ? this.#rowLength * this.#group().count : 2 * (levelTasks[level - 1] as number);
      return { entries, ...this.#ofBuckets, last: level === this.#levels - 1 };
    }
    const { entries, tasks } = reduce.walks[level - this.#levels] as InstrumentedSizes['walks'][number];
    return { entries, writers: 'sumWriters', keys: tasks, last: true };
  }

  get #ofBuckets(): Pick<WalkShape, 'keys' | 'writers'> {
    return { writers: 'bucketWriters', keys: this.#plan.windows * this.#plan.buckets };
  }

  #group(): { readonly first: number; readonly count: number } {
    const { windows, windowsPerGroup } = this.#plan;
    const first = (this.#groups - 1) * windowsPerGroup;
    return { first, count: Math.min(windowsPerGroup, windows - first) };
  }

  #readingDigits(command: Dispatch): Command {
    return { ...command, bindings: { ...command.bindings, entries: digits } };
  }

  /** Cuts a slice to the length that this plan needs, as the pool may keep a longer buffer. */
  #sized({
    buffer,
    offset = 0,
    size = this.#plan.scratch[buffer] as number,
  }: Slice): Slice & { readonly size: number } {
    return { buffer, offset, size };
  }

  #clear(buffer: CheckScratchName): Command {
    return { kind: 'clear', slice: this.#sized({ buffer }) };
  }

  /** Fills the buffers that the next stages will write with a value that no stage writes. */
  #poison(slices: readonly Slice[]): Command[] {
    return slices.map((slice) => {
      const words = this.#sized(slice);
      return {
        kind: 'dispatch',
        phase: 'checks',
        kernel: this.#kernels.poison,
        bindings: { words },
        groups: groupsFor(words.size / 4, CHECK_THREADS),
      };
    });
  }

  #checkSums(level: number, sums: Slice, { keys, writers }: Pick<WalkShape, 'keys' | 'writers'>): Command {
    return this.#check('sums', keys, { level, keys }, { sums: this.#sized(sums), writers: { buffer: writers } });
  }

  #check(
    name: Exclude<CheckName, 'poison'>,
    items: number,
    config: CheckConfig,
    bindings: Record<string, Slice>,
  ): Command {
    return {
      kind: 'dispatch',
      phase: 'checks',
      kernel: this.#kernels[name],
      config: packConfig(config),
      bindings,
      groups: groupsFor(items, CHECK_THREADS),
    };
  }
}

/** Puts checks between the commands of a batch. */
const instrument: Instrument['instrument'] = (curve, { plan, n }, commands) => {
  const instrumentation = new Instrumentation(checkKernels(curve, plan.tuning.walkerCoordinates), plan, n);
  return [...instrumentation.begin(), ...commands.flatMap((command) => instrumentation.around(command))];
};

/** The instrument that checks on the GPU, after every stage, what the stage left in its buffers. */
export const stageChecks: Instrument = {
  scratch: checkScratch,
  dispatches: checkDispatches,
  findingsWords,
  walk: watch,
  instrument,
  read: readFindings,
};
