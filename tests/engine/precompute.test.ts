/** Bases with tables of multiples: the same sums with fewer additions. */
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import { type PointDistributionName, pointDistributions } from '../../dev/cases/point-distributions.js';
import { type ScalarDistributionName, scalarDistributions } from '../../dev/cases/scalar-distributions.js';
import { bls12381, bls12381Oracle, p256Curve, p256Oracle } from '../../dev/oracle/curves.js';
import { bn254G1, expectedMsm, makeKnownBases } from '../../dev/oracle/known-bases.js';
import type { Bases, MsmEngine, Progress, RunRecord } from '../../src/index.js';
import { openEngine } from '../support/engines.js';
import { leaseGpu } from '../support/leased-gpu.js';
import { smallCase, smallCurve } from '../support/small-curve.js';
import { sleep } from '../support/time.js';

describe('tables on BN254', () => {
  let engine: MsmEngine;
  beforeAll(async () => {
    engine = await openEngine();
  });

  const agrees = async (precompute: number): Promise<void> => {
    const n = 300;
    const known = makeKnownBases(bn254G1, n, 9);
    const bases = await engine.loadBases(known.bytes, { precompute });
    expect(bases).toMatchObject({ length: n, byteLength: 64 * n * precompute });
    for (const name of Object.keys(scalarDistributions) as ScalarDistributionName[]) {
      const { values, bytes } = scalarDistributions[name].make(n, 4);
      expect(await engine.msm(bases, bytes), name).toEqual(expectedMsm(bn254G1, known.logs, values));
    }
    bases.destroy();
  };
  test.each([1, 2, 3, 5, 8, 17, 64])('%i tables: every distribution of scalars is right', { tags: 'long' }, agrees);

  test.each(Object.keys(pointDistributions) as PointDistributionName[])(
    'points: %s',
    { tags: 'long' },
    async (points) => {
      const { points: made, scalars, expected } = makeCase({ points, scalars: 'random', n: 200, seed: 3 });
      for (const precompute of [2, 6]) {
        const bases = await engine.loadBases(made.bytes, { precompute });
        expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
        bases.destroy();
      }
    },
  );

  test('more tables need fewer windows and fewer additions', { tags: 'long' }, async () => {
    const n = 1000;
    const { points, scalars, expected } = makeCase({ points: 'distinct', scalars: 'random', n, seed: 3 });
    const additions: number[] = [];
    for (const precompute of [1, 4, 24]) {
      const bases = await engine.loadBases(points.bytes, { precompute });
      expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
      const { entries, windows, windowBits } = engine.lastRun as RunRecord;
      // the reduction adds every bucket twice, and all tables share them
      additions.push(entries + (windows / precompute) * 2 ** windowBits);
      bases.destroy();
    }
    const [none, four, many] = additions as [number, number, number];
    expect(four).toBeLessThan(0.97 * none);
    expect(many).toBeLessThan(0.75 * none);
  });

  test('offsets, batches, widths of windows, budgets and submits at random are right', { tags: 'long' }, async () => {
    const n = 400;
    const known = makeKnownBases(bn254G1, n, 10);
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          precompute: fc.integer({ min: 2, max: 20 }),
          windowBits: fc.option(fc.integer({ min: 2, max: 16 }), { nil: undefined }),
          additionsPerSubmit: fc.option(fc.integer({ min: 2 ** 17, max: 2 ** 20 }), { nil: undefined }),
          checks: fc.boolean(),
          vectors: fc.array(
            fc.record({
              offset: fc.integer({ min: 0, max: n }),
              length: fc.integer({ min: 0, max: n }),
              scalars: fc.constantFrom(...(Object.keys(scalarDistributions) as ScalarDistributionName[])),
            }),
            { minLength: 1, maxLength: 3 },
          ),
        }),
        async ({ precompute, windowBits, additionsPerSubmit, checks, vectors }) => {
          const tuning = {
            ...(windowBits && { windowBits }),
            ...(additionsPerSubmit && { additionsPerSubmit }),
          };
          const own = await openEngine({ tuning, checks });
          const bases = await own.loadBases(known.bytes, { precompute });
          const made = vectors.map(({ offset, length, scalars }, i) => ({
            offset,
            ...scalarDistributions[scalars].make(Math.min(length, n - offset), i),
          }));
          const sums = await own.msmBatch(
            bases,
            made.map(({ bytes }) => bytes),
            { offsets: made.map(({ offset }) => offset) },
          );
          expect(sums).toEqual(
            made.map(({ offset, values }) => expectedMsm(bn254G1, known.logs.slice(offset), values)),
          );
        },
      ),
      { numRuns: 10, seed: 6 },
    );
  });
});

test.each([
  ['a cofactor and 381 bits', bls12381, bls12381Oracle],
  ['a = -3', p256Curve, p256Oracle],
] as const)('%s', { tags: 'long' }, async (_, curve, oracle) => {
  const known = makeKnownBases(oracle, 50, 2);
  const engine = await openEngine({ curve });
  const { values, bytes } = scalarDistributions.unreduced.make(47, 5);
  for (const precompute of [3, 16]) {
    const bases = await engine.loadBases(known.bytes, { precompute });
    expect(await engine.msm(bases, bytes, { offset: 3 })).toEqual(expectedMsm(oracle, known.logs.slice(3), values));
  }
});

describe('the contract of precompute', () => {
  const { points, scalars, expected } = smallCase(40);

  test('a wrong number of tables is rejected', async () => {
    const engine = await openEngine({ curve: smallCurve });
    for (const precompute of [0, -1, 1.5, 65, '4', null, Number.NaN]) {
      await expect(engine.loadBases(points, { precompute: precompute as number })).rejects.toMatchObject({
        code: 'bad-argument',
        message: expect.stringMatching(/^options\.precompute must be an integer from 1 to 64/),
      });
    }
    expect(engine.memory.bases).toBe(0);
  });

  test('the error names a point off the curve, and no buffer remains', async () => {
    const engine = await openEngine({ curve: smallCurve });
    const wrong = points.map((point, i) => (i === 7 ? { ...point, y: point.y + 1n } : point));
    await expect(engine.loadBases(wrong, { precompute: 3 })).rejects.toMatchObject({
      code: 'not-on-curve',
      message: expect.stringContaining('points[7]'),
    });
    expect(engine.memory.bases).toBe(0);
    const bases: Bases = await engine.loadBases(points, { precompute: 3 });
    expect(await engine.msm(bases, scalars)).toEqual(expected);
  });

  test('loads no points at all, and reports progress', async () => {
    const engine = await openEngine({ curve: smallCurve });
    expect((await engine.loadBases([], { precompute: 3 })).length).toBe(0);
    const ticks: Progress[] = [];
    await engine.loadBases(points, { precompute: 3, onProgress: (progress) => ticks.push(progress) });
    // one submit for the points, and one for each further table
    expect(ticks).toEqual([0, 1, 2, 3].map((done) => ({ phase: 'load', done, total: 3 })));
  });

  test('slices keep to the memory budget, and the points at their ends are loaded', async () => {
    const size = 1024;
    const ends = [0, size - 1, size, 2 * size - 1, 2 * size, 2999];
    const many = smallCase(3000, (i) => (ends.includes(i) ? BigInt(i + 3) ** 5n : 0n));
    // half of it is for the points, of 32 bytes each
    const memoryBudget = 2 * 32 * size;
    const engine = await openEngine({ curve: smallCurve, memoryBudget });
    const ticks: Progress[] = [];
    const bases = await engine.loadBases(many.points, { precompute: 3, onProgress: (tick) => ticks.push(tick) });
    expect(ticks.at(-1)).toEqual({ phase: 'load', done: 9, total: 9 });
    expect(engine.memory.peak).toBeLessThanOrEqual(memoryBudget);
    expect(await engine.msm(bases, many.scalars)).toEqual(many.expected);
  });

  test('an abort between two tables takes effect and frees the buffers', async () => {
    const engine = await openEngine({ curve: smallCurve });
    const controller = new AbortController();
    const call = engine.loadBases(points, {
      precompute: 3,
      signal: controller.signal,
      onProgress: () => void sleep().then(() => controller.abort()),
    });
    await expect(call).rejects.toMatchObject({ code: 'aborted' });
    expect(engine.memory.bases).toBe(0);
    expect(await engine.msm(await engine.loadBases(points, { precompute: 3 }), scalars)).toEqual(expected);
  });

  test('tables are computed again after the loss of the device', async () => {
    const { gpu, devices } = await leaseGpu();
    const engine = await openEngine({ curve: smallCurve, gpu });
    const bases = await engine.loadBases(points, { precompute: 4 });
    devices[0]?.device.destroy();
    await devices[0]?.device.lost;
    expect(await engine.msm(bases, scalars)).toEqual(expected);
    expect(devices).toHaveLength(2);
    expect(bases.byteLength).toBe(40 * 4 * 32);
  });
});
