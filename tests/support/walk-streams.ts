/** Sorted streams for the tests of the walk, and the cuts of all its levels. */
import fc from 'fast-check';
import { ABSENT, ENTRY_WORDS, packLevel } from '../../src/msm/stages/entry.js';
import type { Cut } from '../reference/walk.js';

/** The cut of a stream of `entries` into `tasks` equal tasks. */
const cutOf = (entries: number, tasks: number): Cut => ({
  entries,
  tasks,
  quotient: Math.floor(entries / tasks),
  remainder: entries % tasks,
});

/**
 * The cuts of a walk and of all the walks that combine its partial sums, each with `shrink` times
 * fewer tasks than the last.
 */
export const cutsOf = (entries: number, tasks: number, shrink: number): Cut[] => {
  const cuts = [cutOf(entries, tasks)];
  for (let rest = tasks; rest > 1; ) {
    const next = Math.ceil(rest / shrink);
    cuts.push(cutOf(2 * rest, next));
    rest = next;
  }
  return cuts;
};

/** A level as partition leaves it on the GPU, for a cut that `threads` threads walk. */
export const levelOf = (cut: Cut, threads: number): Uint32Array<ArrayBuffer> => packLevel({ ...cut, threads });

/** Length and shape of the runs of a stream. */
export interface Shape {
  /**
   * For each run, how far its key is from the one before, its length, and which of its entries are
   * absent.
   */
  readonly runs: readonly { readonly step: number; readonly absent: readonly boolean[] }[];
}

const absent = (most: number, chance: fc.Arbitrary<boolean>) => fc.array(chance, { minLength: 1, maxLength: most });
const runs = (most: number, length: number, chance: fc.Arbitrary<boolean>): fc.Arbitrary<Shape> =>
  fc.record({
    runs: fc.array(fc.record({ step: fc.integer({ min: 1, max: 3 }), absent: absent(length, chance) }), {
      maxLength: most,
    }),
  });
const never = fc.constant(false);
const sometimes = fc.integer({ min: 0, max: 3 }).map((draw) => draw === 0);

/**
 * Streams that are awkward to cut: short runs, one run, long runs among short ones, with and
 * without absent entries, empty ones.
 */
export const shapes: fc.Arbitrary<Shape> = fc.oneof(
  runs(120, 3, never),
  runs(1, 200, never),
  runs(60, 5, sometimes),
  runs(8, 60, sometimes),
  // a run of absent entries only: nobody may write it
  runs(20, 10, fc.boolean()),
  fc.tuple(runs(40, 2, never), absent(150, sometimes), runs(40, 2, sometimes)).map(([before, hot, after]) => ({
    runs: [...before.runs, { step: 1, absent: hot }, ...after.runs],
  })),
);

/** The stream of a shape: entry i has the handle `handleOf(i)`, or none. */
export const streamOf = (shape: Shape, pointRefOf: (i: number) => number): Uint32Array<ArrayBuffer> => {
  const words: number[] = [];
  let key = -1;
  for (const run of shape.runs) {
    key += run.step;
    for (const isAbsent of run.absent) {
      words.push(key, isAbsent ? ABSENT : pointRefOf(words.length / ENTRY_WORDS));
    }
  }
  return Uint32Array.from(words);
};

/** Keys of a stream with the handles of their present entries; a key without one is not in it. */
export const pointRefsByKey = (stream: Uint32Array): Map<number, number[]> => {
  const all = new Map<number, number[]>();
  for (let i = 0; i < stream.length; i += ENTRY_WORDS) {
    const [key, pointRef] = [stream[i] as number, stream[i + 1] as number];
    if (pointRef !== ABSENT) all.set(key, [...(all.get(key) ?? []), pointRef]);
  }
  return all;
};
