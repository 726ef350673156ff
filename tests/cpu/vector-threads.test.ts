/**
 * Vectors that threads compute together, in Node: every operation is bit-equal with one thread, on
 * every number of threads; a run is right, or ends with an error, whatever happens to its workers.
 */
import { numberToBytesLE } from '@noble/curves/utils.js';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Lent, type VectorPool, VectorThreads } from '../../src/fields/cpu/vector-threads.js';
import type { FieldEngine } from '../../src/fields.js';
import { useAllWorkers } from '../support/all-workers.js';
import { sleep } from '../support/time.js';
import {
  Bench,
  computed,
  expectRightAfterAborts,
  expectRightAfterSilence,
  expectRightWhileWorkersEnd,
  numbers,
  ofAnyLength,
  ofPowers,
  quotient,
  startAfter,
  startImpatient,
} from '../support/vector-programs.js';

useAllWorkers();

// short vectors take all workers, too
beforeEach(() => {
  vi.spyOn(VectorThreads.prototype, 'workersFor').mockImplementation(function (this: VectorThreads) {
    return this.most;
  });
});

let bench: Bench | null = null;
afterEach(() => {
  bench?.close();
  bench = null;
  vi.restoreAllMocks();
});

describe('a single worker that shares memory', () => {
  /** Workers for a run of so many ms. */
  const taken = (ms: number, { isIdle = true, most = 1, sharesMemory = true }): number => {
    vi.restoreAllMocks();
    const pool = { isOff: false, sharesMemory, afford: () => most } as unknown as VectorPool;
    return new VectorThreads({ pool, most, queue: { isIdle } as Lent['queue'] }).workersFor(ms);
  };

  test('takes part in long runs while no sum computes', () => {
    expect([1, 63, 64, 500].map((ms) => taken(ms, {}))).toEqual([0, 0, 1, 1]);
    expect(taken(500, { isIdle: false })).toBe(0);
  });

  test('takes part in shorter ones beside others, and by messages', () => {
    expect(taken(12, { most: 2, isIdle: false })).toBe(2);
    expect(taken(12, { sharesMemory: false, isIdle: false })).toBe(1);
  });
});

describe('equal on every number of threads', () => {
  const areEqual = async (workers: number): Promise<void> => {
    bench = await Bench.open(workers);
    await bench.bring(workers);
    expect(bench.together.workers).toBe(workers);
    const wrong: Record<string, number[]> = {};
    for (const [name, program] of Object.entries(ofPowers)) {
      wrong[name] = await bench.differences(program, [1, 2, 4, 2 ** 10, 2 ** 13]);
    }
    for (const [name, program] of Object.entries(ofAnyLength)) {
      wrong[name] = await bench.differences(program, [2, 3, 2 ** 9 + 1, 5000]);
    }
    expect(Object.values(wrong).flat(), JSON.stringify(wrong)).toEqual([]);
  };
  test('with 2 workers', () => areEqual(2));
  test.each([1, 3])('with %i workers', { tags: 'long' }, areEqual);

  test('of a sparse matrix with rows of 0, 1 and many entries', async () => {
    bench = await Bench.open(3);
    const rows = 2 ** 11;
    const entries = { row: [] as number[], column: [] as number[], values: [] as bigint[] };
    for (let i = 0; i < rows; i++) {
      for (let k = 0; k < (i === 77 ? 900 : i % 4); k++) {
        entries.row.push(i);
        entries.column.push((i * 31 + k * 7) % rows);
        entries.values.push(numbers(1, BigInt(i + k))[0] as bigint);
      }
    }
    const apply = async (fr: FieldEngine, of = entries): Promise<Buffer> => {
      const matrix = await fr.loadMatrix({ rows, columns: rows, ...of });
      return computed(fr, rows, (ops, [a]) => ops.apply(matrix, a));
    };
    const a = numbers(rows, 1n);
    const sums = new Array<bigint>(rows).fill(0n);
    for (const [i, row] of entries.row.entries()) {
      const product = (entries.values[i] as bigint) * (a[entries.column[i] as number] as bigint);
      sums[row] = ((sums[row] as bigint) + product) % bench.alone.p;
    }
    const expected = Buffer.concat(sums.map((sum) => numberToBytesLE(sum, 32)));
    expect(await apply(bench.alone)).toEqual(expected);
    expect(await apply(bench.together)).toEqual(expected);
    const reversed = {
      row: entries.row.toReversed(),
      column: entries.column.toReversed(),
      values: entries.values.toReversed(),
    };
    expect(await apply(bench.alone, reversed)).toEqual(expected);
    expect(await apply(bench.together, reversed)).toEqual(expected);
  });

  test('of random programs @long', { tags: ['long'] }, async () => {
    bench = await Bench.open(3);
    const wrong: Record<string, number[]> = {};
    for (const [name, program] of Object.entries({ ...ofPowers, ...ofAnyLength })) {
      wrong[name] = await bench.differences(program, [2 ** 13, 2 ** 15, 2 ** 15, 2 ** 16]);
    }
    expect(Object.values(wrong).flat(), JSON.stringify(wrong)).toEqual([]);
  });
});

/** Elements that keep all threads busy for some 20 ms. */
const LENGTH = 2 ** 13;

describe('right, whatever happens to workers', () => {
  const areEnded = async (moments: readonly number[]): Promise<void> => {
    bench = await Bench.open(2, startAfter(''));
    await expectRightWhileWorkersEnd(bench, LENGTH, moments);
  };
  test('that are ended at the start, in the middle and at the end of a run', () => areEnded([0, 4, 10]));
  test('that are ended at any moment of a run', { tags: 'long' }, () => areEnded([0, 2, 4, 6, 8, 10, 12, 14]));

  test('that stop in the middle of a chunk, and go on when nobody waits any more', async () => {
    const stops = `
      const { instantiate } = WebAssembly;
      WebAssembly.instantiate = async (...parameters) => {
        const made = await instantiate(...parameters);
        if (!('multiplySubtract' in made.exports)) return made;
        const exports = Object.fromEntries(Object.entries(made.exports).map(([name, run]) => [name, (...of) => {
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
          run(...of);
        }]));
        return { exports };
      };`;
    bench = await Bench.open(2, startImpatient(stops));
    const expected = await expectRightAfterSilence(
      bench,
      LENGTH,
      /was not heard of any more while it computed vectors/,
    );
    await sleep(500);
    expect(await computed(bench.together, LENGTH, quotient)).toEqual(expected);
  });

  test('that hear of a run long after it began: nobody waits for them', async () => {
    const late = `
      const { parentPort } = process.getBuiltinModule('node:worker_threads');
      const { on } = parentPort;
      parentPort.on = (event, listener) => on.call(parentPort, event, (message) => setTimeout(listener, 300, message));`;
    bench = await Bench.open(2, startAfter(late));
    const expected = await bench.expected(quotient, LENGTH);
    for (let i = 0; i < 3; i++) {
      expect(await computed(bench.together, LENGTH, quotient)).toEqual(expected);
      expect(bench.together.lastRun?.retried).toBeNull();
    }
  });

  const areRightAfterAborts = async (moments: readonly number[]): Promise<void> => {
    bench = await Bench.open(2);
    await expectRightAfterAborts(bench, LENGTH, moments);
  };
  test('after a run is aborted at the start, in the middle and at the end', () => areRightAfterAborts([0, 4, 12]));
  test('after a run is aborted at any moment', { tags: 'long' }, () => areRightAfterAborts([0, 4, 8, 12, 16, 20]));
});
