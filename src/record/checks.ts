import type { Command, Slice } from '../gpu/commands.js';
import type { CheckScratchName, Plan, ScratchName } from '../plan/planner.js';
import type { Part } from '../plan/schedule.js';
import { groupsFor } from '../shaders/limits.js';
import { CHECK_THREADS, CheckConfig } from '../stages/check.js';
import type { Kernels } from '../stages/kernels.js';

type Name = ScratchName | CheckScratchName;

/** What a walk reads and writes, for its checks. */
export interface CheckedWalk {
  readonly level: number;
  /** The most entries that its stream may have. */
  readonly entries: number;
  readonly stream: Slice;
  readonly writers: CheckScratchName;
  /** Sums, of which the writers are noted. */
  readonly keys: number;
  readonly to: 'A' | 'B';
  /** Nothing may be left to combine. */
  readonly last: boolean;
}

/** Records the checks of one plan; nothing, unless it asks for them. */
export class CheckRecorder {
  readonly #kernels: Kernels;
  readonly #part: Part;
  readonly #plan: Plan;

  /** @param part the only one of its job */
  constructor(kernels: Kernels, part: Part) {
    this.#kernels = kernels;
    this.#part = part;
    this.#plan = part.plan;
  }

  /** Bindings that a walk has besides its own when it counts its writers. */
  walkBindings(writers: CheckScratchName): Record<string, Slice> {
    return this.#plan.tuning.checks ? { writers: { buffer: writers }, findings: { buffer: 'findings' } } : {};
  }

  /** What has to be zero when the run begins. */
  begin(): Command[] {
    const names: CheckScratchName[] = ['bucketWriters', 'splitWriters', 'bitWriters', 'findings'];
    return this.#when(() => names.map((buffer) => ({ kind: 'clear', slice: this.#slice(buffer) })));
  }

  /** Fills buffers that the stages ahead are to write. */
  poison(...names: Name[]): Command[] {
    return this.#when(() =>
      names.map((buffer) => ({
        kind: 'dispatch',
        phase: 'checks',
        kernel: this.#kernels.checks(this.#plan.tuning.fieldCarry).poison,
        bindings: { words: this.#slice(buffer) },
        groups: groupsFor((this.#plan.scratch[buffer] as number) / 4, CHECK_THREADS),
      })),
    );
  }

  /** The sorted stream of windows [first, first + count) against the digits that it was sorted from. */
  sorted(stream: Slice, group: { readonly first: number; readonly count: number }): Command[] {
    const { buckets, pieces, tables, vectorWindows } = this.#plan;
    const slab = this.#part.n * pieces;
    const windows = { windows: group.count, first_window: group.first, vector_windows: vectorWindows };
    return this.#check(
      'sorted',
      slab * group.count,
      { slab, ...windows, buckets, pieces, tables },
      {
        vectors: this.#slice('vectors'),
        totals: { buffer: 'totals' },
        digits: { buffer: 'digits' },
        stream,
      },
    );
  }

  /** Before a walk: its stream; and its places are poisoned. */
  beforeWalk({ level, entries, stream, writers, keys, to }: CheckedWalk): Command[] {
    return [
      ...this.#check(
        'stream',
        entries,
        { level, keys },
        { levels: { buffer: 'levels' }, stream, writers: { buffer: writers } },
      ),
      ...this.poison(`places${to}`, `partials${to}`),
    ];
  }

  /** After a walk: its places. */
  afterWalk({ level, to, last }: CheckedWalk): Command[] {
    const { levelTasks, reduce } = this.#plan;
    const tasks = Math.max(levelTasks[level] ?? 0, reduce.splitTasks, reduce.bitsTasks);
    const buffers = { levels: 'levels', places: `places${to}`, partials: `partials${to}` } as const;
    const bindings = Object.fromEntries(Object.entries(buffers).map(([name, buffer]) => [name, { buffer }]));
    return this.#check('partials', 2 * tasks, { level, last: last ? 1 : 0 }, bindings);
  }

  /** After the last walk that writes to `sums`. */
  sums(level: number, sums: Slice, writers: CheckScratchName, keys: number): Command[] {
    return this.#check('sums', keys, { level, keys }, { sums, writers: { buffer: writers } });
  }

  /** A slice of the length that this plan needs; the pool may keep a longer buffer. */
  #slice(buffer: Name): Slice {
    return { buffer, offset: 0, size: this.#plan.scratch[buffer] as number };
  }

  #check(
    part: 'sorted' | 'stream' | 'partials' | 'sums',
    items: number,
    config: Partial<Parameters<typeof CheckConfig.pack>[0]>,
    bindings: Record<string, Slice>,
  ): Command[] {
    const none = Object.fromEntries(CheckConfig.fields.map((name) => [name, 0])) as Parameters<
      typeof CheckConfig.pack
    >[0];
    return this.#when(() => [
      {
        kind: 'dispatch',
        phase: 'checks',
        kernel: this.#kernels.checks(this.#plan.tuning.fieldCarry)[part],
        config: CheckConfig.pack({ ...none, ...config }),
        bindings: { ...bindings, findings: { buffer: 'findings' } },
        groups: groupsFor(items, CHECK_THREADS),
      },
    ]);
  }

  #when(commands: () => Command[]): Command[] {
    return this.#plan.tuning.checks ? commands() : [];
  }
}
