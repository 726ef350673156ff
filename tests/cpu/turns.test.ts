/**
 * Turns of the event loop: no step between two looks at the clock does more than a fixed amount of
 * work, however large the sum is.
 */
import { afterEach, expect, test, vi } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import { bn254 } from '../../src/curves/bn254.js';
import { curveContext } from '../../src/curves/curve.js';
import { digitsOfScalars, POINTS_OF_BLOCK, PointBlocks } from '../../src/msm/cpu/buckets.js';
import { multiplyOnCpu } from '../../src/msm/cpu/cpu-backend.js';
import type { CpuPool } from '../../src/msm/cpu/cpu-threads.js';
import type { RoundTask, WindowSums } from '../../src/msm/cpu/share.js';
import { NO_TABLES, survey } from '../../src/msm/plan/workload.js';
import type { Round } from '../../src/threads/round.js';
import { PointAdder } from '../../src/wasm/points/point-adder.js';
import { kernelFor } from '../support/kernels.js';
import { passFrames } from '../support/time.js';

const curve = curveContext(bn254);

/** Points or scalars of one step at most: 1 ms in the slowest kernel. */
const MOST_ITEMS = 2 ** 11;
/** Additions of one step at most: two full lists. */
const MOST_ADDITIONS = 2 ** 10;

afterEach(() => {
  vi.restoreAllMocks();
});

/** Counts what the adders of all curves do in each turn. */
const countWork = () => {
  const turn = { points: 0, additions: 0 };
  const most = { points: 0, additions: 0 };
  const { enter, add } = PointAdder.prototype;
  vi.spyOn(PointAdder.prototype, 'enter').mockImplementation(function (this: PointAdder, words, scale) {
    const points = words.length / curve.pointWords;
    turn.points += points;
    return enter.call(this, words, scale);
  });
  vi.spyOn(PointAdder.prototype, 'add').mockImplementation(function (this: PointAdder, to, P, Q) {
    turn.additions++;
    return add.call(this, to, P, Q);
  });
  return {
    most,
    endTurn: (): void => {
      most.points = Math.max(most.points, turn.points);
      most.additions = Math.max(most.additions, turn.additions);
      turn.points = 0;
      turn.additions = 0;
    },
  };
};

test('a sum of many points copies, sorts and adds in short steps', async () => {
  const n = 2 ** 14;
  const { points, scalars, expected } = makeCase({ points: 'distinct', scalars: 'random', n, seed: 5 });
  const vector = { ...survey(curve, scalars.bytes, NO_TABLES, true), offset: 0 };
  const source = { bytes: points.bytes, scale: 1n, encoding: 'le' as const };
  passFrames();
  const work = countWork();
  const { sums } = await multiplyOnCpu(curve, source, [vector], work.endTurn);
  expect(sums).toEqual([expected]);
  expect(work.most.points).toBe(MOST_ITEMS);
  expect(work.most.additions).toBeLessThanOrEqual(MOST_ADDITIONS);
});

test('points and digits of a block are written in short steps', async () => {
  const n = 2 ** 14;
  const { points, scalars } = makeCase({ points: 'distinct', scalars: 'random', n, seed: 5 });
  const adder = await PointAdder.open(await kernelFor(curve, 'wasm-simd'));
  const digits = digitsOfScalars(curve, scalars.bytes, 253, 12);
  const words = new Uint32Array(points.bytes.buffer);
  const blocks = new PointBlocks(adder, { points: words, scale: 1n, digits });
  const steps = [...blocks.passes()].map((enter) => [...enter()].length);
  expect(steps).toEqual(Array(n / POINTS_OF_BLOCK).fill((2 * POINTS_OF_BLOCK) / MOST_ITEMS));
});

test('a pool is reserved while the input of its round is prepared, and free after an abort', async () => {
  const n = 2 ** 13;
  const { points, scalars, expected } = makeCase({ points: 'distinct', scalars: 'random', n, seed: 5 });
  const vector = { ...survey(curve, scalars.bytes, NO_TABLES, true), offset: 0 };
  const turns = { filling: 0, unreserved: 0 };
  let [isReserved, isFilling] = [false, false];
  // a pool without workers: the own thread computes the whole round
  const pool = {
    sharesMemory: true,
    afford: () => 1,
    choose: (_: number, workers: number) => ({ workers, measures: false }),
    reserve: () => {
      isReserved = true;
    },
    release: () => {
      [isReserved, isFilling] = [false, false];
    },
    takeInput: (words: number) => {
      isFilling = true;
      return new Uint32Array(words);
    },
    run: async ({ own, chunks }: Round<RoundTask, WindowSums>) => {
      [isReserved, isFilling] = [false, false];
      const share = own();
      for (let chunk = 0; chunk < chunks; chunk++) await share.add(chunk);
      return { results: [await share.settle()], workers: [], lost: null, measured: null };
    },
  } as unknown as CpuPool;
  const checkpoint = () => {
    if (!isFilling) return;
    turns.filling++;
    if (!isReserved) turns.unreserved++;
  };
  passFrames();
  const threads = { pool, workers: 1, distribution: 'dynamic', chunk: null } as const;
  const source = { bytes: points.bytes, scale: 1n, encoding: 'le' as const };
  expect((await multiplyOnCpu(curve, source, [vector], checkpoint, threads)).sums).toEqual([expected]);
  expect(turns.filling).toBeGreaterThanOrEqual(n / MOST_ITEMS);
  expect(turns.unreserved).toBe(0);

  const abort = () => {
    if (isFilling) throw new Error('enough');
  };
  await expect(multiplyOnCpu(curve, source, [vector], abort, threads)).rejects.toThrow('enough');
  expect(isReserved).toBe(false);
});

test('zeros are left out, and the other points collected, in short steps', async () => {
  const n = 2 ** 13;
  const { points, scalars, expected } = makeCase({ points: 'distinct', scalars: 'mostly-zero', n, seed: 5 });
  const vector = { ...survey(curve, scalars.bytes, NO_TABLES, true), offset: 0 };
  expect(vector.indices).not.toBeNull();
  const source = { bytes: points.bytes, scale: 1n, encoding: 'le' as const };
  passFrames();
  const work = countWork();
  const { sums } = await multiplyOnCpu(curve, source, [vector], work.endTurn);
  expect(sums).toEqual([expected]);
  expect(work.most.points).toBeLessThanOrEqual(MOST_ITEMS);
});
