/**
 * Bucket rows of a sum, computed by several threads and combined: noble's sum, however they are
 * cut.
 */
import { describe, expect, test } from 'vitest';
import { pointDistributions } from '../../dev/cases/point-distributions.js';
import { scalarDistributions } from '../../dev/cases/scalar-distributions.js';
import { everyScalars } from '../../dev/cases/select.js';
import { bn254G1, expectedMsm } from '../../dev/oracle/known-bases.js';
import { bn254 } from '../../src/curves/bn254.js';
import { curveContext } from '../../src/curves/curve.js';
import { bn254G2 } from '../../src/curves/pairing-friendly.js';
import { quadraticField } from '../../src/field/quadratic.js';
import { digitsOfScalars, type Operands, POINTS_OF_BLOCK } from '../../src/msm/cpu/buckets.js';
import { combineWindows } from '../../src/msm/cpu/combine-on-cpu.js';
import { cutRows } from '../../src/msm/cpu/cpu-threads.js';
import { rowsOf, Share } from '../../src/msm/cpu/share.js';
import { workersToStart, workersToWake } from '../../src/msm/plan/cost.js';
import { finish } from '../../src/scheduling/time-slice.js';
import { WasmHorner } from '../../src/wasm/points/horner-kernel.js';
import { PointAdder } from '../../src/wasm/points/point-adder.js';
import { kernelFor } from '../support/kernels.js';

const curve = curveContext(bn254);
const kernel = kernelFor(curve, 'wasm-simd');
const horner = WasmHorner.open(curve);

const makeOperands = (
  points: keyof typeof pointDistributions,
  scalars: keyof typeof scalarDistributions,
  n: number,
  windowBits: number,
) => {
  const bases = pointDistributions[points].make(n, 7);
  const factors = scalarDistributions[scalars].make(n, 7);
  const operands: Operands = {
    points: new Uint32Array(bases.bytes.buffer),
    scale: 1n,
    digits: digitsOfScalars(curve, factors.bytes, 253, windowBits),
  };
  const { x, y } = expectedMsm(bn254G1, bases.logs, factors.values);
  return { operands, expected: [x, y] };
};

/** Hands rows to `threads` shares in turn, in chunks of different lengths. */
const computeCut = async (operands: readonly Operands[], threads: number, sizes: readonly number[]) => {
  const adders = await Promise.all(Array.from({ length: threads }, async () => PointAdder.open(await kernel)));
  const shares = adders.map((adder) => new Share(adder, operands));
  const rows = operands.reduce((sum, each) => sum + rowsOf(each), 0);
  for (let first = 0, k = 0; first < rows; k++) {
    const end = Math.min(rows, first + (sizes[k % sizes.length] as number));
    finish((shares[k % threads] as Share).add(first, end));
    first = end;
  }
  const results = shares.map((share) => finish(share.settle()));
  const adder = adders[0] as PointAdder;
  const shapes = operands.map(({ digits }) => digits);
  const sums = finish(combineWindows(curve, adder, shapes, results));
  expect(finish(combineWindows(curve, adder, shapes, results, await horner))).toEqual(sums);
  return {
    sums: sums.map((sum) => (sum === null ? [0n, 0n] : [sum.x, sum.y])),
    entries: results.reduce((sum, result) => sum + result.entries, 0),
  };
};

describe('bucket rows', () => {
  test.each(everyScalars)('scalars=%s give the right sum, cut into chunks of several sizes', async (scalars) => {
    for (const [points, n, windowBits] of [
      ['few-with-signs', 300, 11],
      ['distinct', 41, 9],
      ['doubling-chain', 1, 13],
      ['with-infinities', 64, 4],
    ] as const) {
      const { operands, expected } = makeOperands(points, scalars, n, windowBits);
      const whole = await computeCut([operands], 1, [rowsOf(operands)]);
      expect(whole.sums).toEqual([expected]);
      for (const [threads, sizes] of [
        [2, [1, 2, 5]],
        [3, [7, 16, 33]],
      ] as const) {
        const { sums, entries } = await computeCut([operands], threads, sizes);
        expect(sums, `${points}, chunks of ${sizes}`).toEqual([expected]);
        expect(entries).toBe(whole.entries);
      }
    }
  });

  test('chunks that extend over several operands give the right sum', async () => {
    const made = [
      makeOperands('distinct', 'random', 100, 8),
      makeOperands('few-with-signs', 'all-zero', 5, 10),
      makeOperands('distinct', 'unreduced', 70, 12),
      makeOperands('all-equal', 'all-equal', 30, 3),
    ];
    for (const sizes of [[1], [3, 40], [1000]]) {
      const { sums } = await computeCut(
        made.map(({ operands }) => operands),
        3,
        sizes,
      );
      expect(sums).toEqual(made.map(({ expected }) => expected));
    }
  });
});

/** Returns operands whose points threads leave to each other, some of them in a given state. */
const sharing = async (operands: Operands, states: readonly number[]): Promise<Operands> => {
  const { count, words } = operands.digits;
  const { layout } = await kernel;
  const room = (bytes: number) => new Int32Array(new SharedArrayBuffer(count * bytes));
  return {
    ...operands,
    shared: { states: Int32Array.from(states), points: room(layout.point), digits: room(4 * words) },
  };
};

describe('points of several blocks', () => {
  const n = 2 * POINTS_OF_BLOCK + 5;
  const made = makeOperands('few-with-signs', 'one-bucket-and-noise', n, 13);
  const rows = rowsOf(made.operands);

  test('are right on one thread that keeps them, and on two', async () => {
    for (const [threads, size] of [
      [1, rows],
      [2, Math.ceil(rows / 5)],
    ] as const) {
      expect((await computeCut([made.operands], threads, [size])).sums).toEqual([made.expected]);
    }
  });

  test('are right on threads that share them, even if one died while it copied a block', async () => {
    for (const states of [
      [0, 0, 0],
      [0, 1, 0],
    ]) {
      const operands = await sharing(made.operands, states);
      expect((await computeCut([operands], 2, [Math.ceil(rows / 5)])).sums).toEqual([made.expected]);
      expect([...(operands.shared?.states ?? [])]).toEqual(states.map((state) => state || 2));
    }
  });

  test('take no more memory where they are shared than a few of them', async () => {
    const bytes = async (operands: Operands): Promise<number> => {
      const adder = await PointAdder.open(await kernel);
      const share = new Share(adder, [operands]);
      finish(share.add(0, 1));
      finish(share.add(1, 2));
      return adder.bytes;
    };
    const { layout } = await kernel;
    const kept = await bytes(made.operands);
    const shared = await bytes(await sharing(made.operands, [0, 0, 0]));
    expect(kept - shared).toBeGreaterThan(0.9 * POINTS_OF_BLOCK * layout.point);
  });
});

describe('cutRows, workersToStart and workersToWake', () => {
  test('each row is in exactly one chunk, and no chunk is empty', () => {
    for (const rows of [1, 2, 19, 640, 1280, 5000]) {
      for (const workers of [1, 3, 7, 63]) {
        for (const distribution of ['dynamic', 'static'] as const) {
          for (const chunk of [null, 1, 16, 256]) {
            const cuts = cutRows(rows, workers, { distribution, chunk });
            const sizes = cuts.slice(1).map((end, i) => end - (cuts[i] as number));
            expect([cuts[0], cuts.at(-1)]).toEqual([0, rows]);
            for (const size of sizes) expect(size).toBeGreaterThan(0);
            if (chunk !== null) for (const size of sizes.slice(0, -1)) expect(size).toBe(chunk);
            else if (distribution === 'static') expect(sizes.length).toBeLessThanOrEqual(workers + 1);
            else expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
          }
        }
      }
    }
  });

  test('a round that measures begins with two short chunks', () => {
    for (const [rows, workers] of [
      [640, 1],
      [5000, 15],
    ] as const) {
      const cuts = cutRows(rows, workers, { distribution: 'dynamic', chunk: null }, true);
      const sizes = cuts.slice(1).map((end, i) => end - (cuts[i] as number));
      expect([cuts[0], cuts.at(-1)]).toEqual([0, rows]);
      for (const size of sizes) expect(size).toBeGreaterThan(0);
      expect((cuts[2] as number) / rows).toBeLessThan(1 / 20);
      expect(sizes.slice(2)).toEqual(sizes.slice(2).toSorted((a, b) => b - a));
    }
    // too few rows to divide them further, and knobs that fix the sizes
    expect(cutRows(2, 1, { distribution: 'dynamic', chunk: null }, true)).toEqual([0, 1, 2]);
    expect(cutRows(8, 1, { distribution: 'dynamic', chunk: 4 }, true)).toEqual([0, 4, 8]);
  });

  test('66 points get no worker, 2^16 points get several, and points of G2 get more', () => {
    const pairs = curveContext(bn254G2, quadraticField);
    expect(workersToWake(curve, 66 * 64, true)).toBe(0);
    expect(workersToStart(curve, 66 * 64)).toBeLessThan(0.1);
    const started = workersToStart(curve, 2 ** 16 * 20);
    expect(started).toBeGreaterThan(6);
    expect(workersToWake(curve, 2 ** 16 * 20, true)).toBeGreaterThan(2 * started);
    expect(workersToStart(pairs, 2 ** 16 * 20)).toBeGreaterThan(2 * started);
  });

  test('less work is divided among workers that share memory than among those that are sent a copy', () => {
    const unit = 1 / workersToStart(curve, 1);
    const woken = (work: number) => [true, false].map((shares) => workersToWake(curve, work * unit, shares));
    expect(woken(0.4)).toEqual([0, 0]);
    expect(woken(0.6)).toEqual([6, 0]);
    expect(woken(1.3)).toEqual([13, 2]);
  });
});
