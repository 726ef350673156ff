/**
 * Vectors that workers compute without shared memory, in Node: chains of operations come and go by messages.
 * Every run is bit-equal with one thread, whatever happens to its workers.
 */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { VectorThreads } from '../../src/fields/cpu/vector-threads.js';
import type { FieldVector } from '../../src/fields.js';
import { useAllWorkers } from '../support/all-workers.js';
import {
  Bench,
  computed,
  expectRightAfterAborts,
  expectRightAfterSilence,
  expectRightWhileWorkersEnd,
  ofAnyLength,
  ofPowers,
  type Program,
  quotient,
  startAfter,
  type Vectors,
} from '../support/vector-programs.js';

useAllWorkers();

beforeEach(() => {
  vi.stubGlobal('crossOriginIsolated', false);
  // short vectors take all workers, too
  vi.spyOn(VectorThreads.prototype, 'workersFor').mockImplementation(function (this: VectorThreads, ms: number) {
    return ms > 0 ? this.most : 0;
  });
});

let bench: Bench;
afterEach(() => {
  bench.close();
  vi.unstubAllGlobals();
});

/** Elements whose transforms are long enough for messages. */
const LENGTH = 2 ** 13;

/** Has a program computed of three vectors side by side. */
const ofEach =
  (program: Program): Program =>
  (ops, [a, b, c], engine) => {
    const results = [
      [a, b, c],
      [b, c, a],
      [c, a, b],
    ].map((vectors) => program(ops, vectors as unknown as Vectors, engine));
    return ops.linearCombination(results.map((each, i) => [BigInt(i + 1), each]));
  };

const programs = Object.entries({ ...ofPowers, ...ofAnyLength }).map(
  ([name, program]) => [name, ofEach(program)] as const,
);

/** Transforms of vectors of different lengths, of which two read the same one. */
const ofDifferentLengths: Program = (ops, [a, b, c]) => {
  const there = (v: FieldVector): FieldVector => ops.ntt(ops.pad(v, 4 * v.length), { to: 'reversed', coset: 7n });
  const sum = ops.add(a, b);
  const parts = [
    there(sum),
    there(ops.scalePowers(sum, 3n)),
    there(ops.intt(c)),
    there(ops.slice(ops.pad(b, LENGTH + 5), 5)),
  ];
  return ops.intt(ops.linearCombination(parts.map((each) => [1n, each])), { from: 'reversed', coset: 7n });
};

describe('equal on every number of threads', () => {
  const areEqual = async (workers: number): Promise<void> => {
    bench = await Bench.open(workers);
    await bench.bring(Math.min(2, workers));
    const wrong: Record<string, number[]> = {};
    wrong.lengths = await bench.differences(ofDifferentLengths, [LENGTH]);
    for (const [name, program] of programs) wrong[name] = await bench.differences(program, [LENGTH]);
    expect(Object.values(wrong).flat(), JSON.stringify(wrong)).toEqual([]);
  };
  test('with up to 2 workers', () => areEqual(2));
  test.each([1, 3])('with up to %i workers', { tags: 'long' }, areEqual);

  test('after more tables than are kept', async () => {
    bench = await Bench.open(2);
    await bench.bring(2);
    for (let round = 0; round < 3; round++) {
      const program: Program = (ops, [a, b, c]) =>
        ops.linearCombination(
          [a, b, c, a, b].map((each, i) => [1n, ops.ntt(each, { coset: BigInt(2 + 5 * round + i) })] as const),
        );
      expect(await bench.differences(program, [LENGTH])).toEqual([]);
      expect(bench.together.lastRun?.workers).toBe(2);
    }
  });

  test('of vectors too long for the memory of workers: this thread computes', async () => {
    bench = await Bench.open(2);
    await bench.bring(2);
    const program: Program = (ops, [a, b]) => {
      const longer = (v: FieldVector): FieldVector => ops.pad(ops.pad(v, 2 ** 21), 2 ** 21 + 1);
      const [long, other] = [a, b].map((each) => ops.scale(longer(each), 3n));
      return ops.slice(ops.add(long as FieldVector, other as FieldVector), 0, 64);
    };
    expect(await bench.differences(program, [64])).toEqual([]);
    expect(bench.together.lastRun?.workers).toBe(0);
  });
});

describe('right, whatever happens to workers', () => {
  const areEnded = async (moments: readonly number[]): Promise<void> => {
    bench = await Bench.open(2, startAfter(''));
    await expectRightWhileWorkersEnd(bench, LENGTH, moments);
  };
  test('that are ended at the start, in the middle and at the end of a run', () => areEnded([0, 4, 10]));
  test('that are ended at any moment of a run', { tags: 'long' }, () => areEnded([0, 2, 4, 6, 8, 10]));

  test('that stop in the middle of a chain: this thread computes it again', async () => {
    const stops = `
      const { instantiate } = WebAssembly;
      WebAssembly.instantiate = async (...parameters) => {
        const made = await instantiate(...parameters);
        if (!('multiplySubtract' in made.exports)) return made;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      };`;
    bench = await Bench.open(2, startAfter(stops));
    const expected = await expectRightAfterSilence(bench, LENGTH, /was not heard of any more/);
    expect(await computed(bench.together, LENGTH, quotient)).toEqual(expected);
  });

  test('that get no memory, or fail: this thread computes', async () => {
    bench = await Bench.open(
      2,
      startAfter('WebAssembly.Memory = class { constructor() { throw new RangeError("no memory"); } };'),
    );
    expect(await bench.differences(quotient, [LENGTH, LENGTH, LENGTH, LENGTH])).toEqual([]);
  });

  const areRightAfterAborts = async (moments: readonly number[]): Promise<void> => {
    bench = await Bench.open(2);
    await expectRightAfterAborts(bench, LENGTH, moments);
  };
  test('after a run is aborted at the start, in the middle and at the end', () => areRightAfterAborts([0, 4, 12]));
  test('after a run is aborted at any moment', { tags: 'long' }, () => areRightAfterAborts([0, 4, 8, 12, 16, 20]));
});
