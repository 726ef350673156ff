/**
 * Several vectors of scalars over the same bases: every sum against the known logarithms of the
 * points, and how they are put together.
 */
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { type ScalarDistributionName, scalarDistributions } from '../../dev/cases/scalar-distributions.js';
import { bls12381, bls12381Oracle } from '../../dev/oracle/curves.js';
import {
  type AffinePoint,
  bn254G1,
  encodeScalars,
  expectedMsm,
  INFINITY,
  makeKnownBases,
} from '../../dev/oracle/known-bases.js';
import { bn254 } from '../../src/curves/bn254.js';
import { curveContext } from '../../src/curves/curve.js';
import type { Bases, MsmEngine, Progress, Tuning } from '../../src/index.js';
import { gpuKnobs } from '../../src/msm/plan/device-profiles.js';
import { planMsm } from '../../src/msm/plan/planner.js';
import { schedule } from '../../src/msm/plan/schedule.js';
import { fullWorkload } from '../../src/msm/plan/workload.js';
import { type EngineOptions, openEngine } from '../support/engines.js';
import { leaseGpu } from '../support/leased-gpu.js';
import { gpuRunOf } from '../support/runs.js';
import { smallCase, smallCurve } from '../support/small-curve.js';

const count = 600;
const known = makeKnownBases(bn254G1, count, 31);

interface Vector {
  readonly length: number;
  readonly offset: number;
  readonly scalars: ScalarDistributionName;
}

const make = (vectors: readonly Vector[]) => {
  const values = vectors.map(({ length, scalars }, i) => scalarDistributions[scalars].make(length, 100 + i));
  const offsets = vectors.map(({ offset }) => offset);
  const sums: AffinePoint[] = values.map(({ values: own }, i) =>
    expectedMsm(bn254G1, known.logs.slice(offsets[i]), own),
  );
  return { bytes: values.map(({ bytes }) => bytes), offsets, sums };
};

const mixed: readonly Vector[] = [
  { length: 200, offset: 0, scalars: 'random' },
  { length: 0, offset: count, scalars: 'random' },
  { length: 333, offset: 5, scalars: 'random' },
  { length: 1, offset: count - 1, scalars: 'random' },
  { length: 190, offset: 400, scalars: 'unreduced' },
  { length: 300, offset: 3, scalars: 'all-zero' },
  { length: 64, offset: 17, scalars: 'zero-one' },
  { length: 400, offset: 130, scalars: 'carry-patterns' },
  { length: 2, offset: 1, scalars: 'r-and-above' },
  { length: count, offset: 0, scalars: 'one-bucket-and-noise' },
];

const withEngine = async (
  more: Partial<Tuning>,
  use: (engine: MsmEngine, bases: Bases) => Promise<void>,
  options: EngineOptions = {},
): Promise<void> => {
  const engine = await openEngine({ tuning: more, ...options });
  await use(engine, await engine.loadBases(known.bytes));
};

describe('batches of vectors with different lengths and offsets', () => {
  const { bytes, offsets, sums } = make(mixed);

  test('one submit gives every right sum, and the same bytes as single calls', () =>
    withEngine({}, async (engine, bases) => {
      expect(await engine.msmBatch(bases, bytes, { offsets })).toEqual(sums);
      const all = mixed.reduce((sum, { length }) => sum + length, 0);
      expect(engine.lastRun).toMatchObject({ on: 'gpu', n: all, vectors: mixed.length, submits: 1 });
      for (const [i, vector] of bytes.entries()) {
        expect(await engine.msm(bases, vector, { offset: offsets[i] as number }), `vector ${i}`).toEqual(sums[i]);
      }
      // and again, over what the others left
      expect(await engine.msmBatch(bases, bytes, { offsets })).toEqual(sums);
    }));

  const agrees = (_: string, { checks = false, ...more }: Partial<Tuning> & { checks?: boolean }): Promise<void> =>
    withEngine(
      more,
      async (engine, bases) => {
        expect(await engine.msmBatch(bases, bytes, { offsets })).toEqual(sums);
        expect(engine.lastRun?.on).toBe(more.cpuBelow === undefined ? 'gpu' : 'cpu');
        if (more.additionsPerSubmit !== undefined) expect(gpuRunOf(engine).submits).toBeGreaterThan(1);
      },
      { checks },
    );
  test.each<[string, Partial<Tuning>]>([
    ['a few additions a submit', { additionsPerSubmit: 2 ** 12 }],
    ['on the CPU', { cpuBelow: 2 ** 16 }],
  ])('%s', agrees);
  test.each<[string, Partial<Tuning> & { checks?: boolean }]>([
    ['checked between the stages', { checks: true }],
    ['hardly any additions a submit', { additionsPerSubmit: 2 ** 10 }],
    ['narrow windows', { windowBits: 2 }],
    ['wide windows', { windowBits: 13 }],
  ])('%s', { tags: 'long' }, agrees);

  test.each([2 ** 19, 4e5])('a batch keeps to a budget of %i bytes', (memoryBudget) =>
    withEngine(
      {},
      async (engine, bases) => {
        expect(await engine.msmBatch(bases, bytes, { offsets })).toEqual(sums);
        expect(engine.memory.peak).toBeLessThanOrEqual(memoryBudget);
      },
      { memoryBudget },
    ),
  );

  test('random batches are right', { tags: 'long' }, () =>
    withEngine({}, async (engine, bases) => {
      const vector = fc
        .record({
          length: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: count })),
          offset: fc.integer({ min: 0, max: count }),
          scalars: fc.constantFrom(...(Object.keys(scalarDistributions) as ScalarDistributionName[])),
        })
        .map(({ length, offset, scalars }) => ({ length: Math.min(length, count - offset), offset, scalars }));
      await fc.assert(
        fc.asyncProperty(fc.array(vector, { maxLength: 6 }), async (vectors) => {
          const made = make(vectors);
          expect(await engine.msmBatch(bases, made.bytes, { offsets: made.offsets })).toEqual(made.sums);
        }),
        { numRuns: 12, seed: 5 },
      );
    }),
  );
});

test('points of 96 bytes, which no binding offset is a multiple of, are right at every offset', {
  tags: 'long',
}, async () => {
  const bls = makeKnownBases(bls12381Oracle, 40, 3);
  const engine = await openEngine({ curve: bls12381 });
  const bases = await engine.loadBases(bls.bytes);
  const scalars = Array.from({ length: 17 }, (_, i) => BigInt(i + 1) ** 40n);
  const vectors = Array.from({ length: 17 }, (_, offset) => ({
    offset: offset + 3,
    own: scalars.slice(0, 17 - offset),
  }));
  const sums = await engine.msmBatch(
    bases,
    vectors.map(({ own }) => own),
    { offsets: vectors.map(({ offset }) => offset) },
  );
  expect(sums).toEqual(vectors.map(({ offset, own }) => expectedMsm(bls12381Oracle, bls.logs.slice(offset), own)));
});

describe('the contract of batches', () => {
  let engine: MsmEngine;
  let bases: Bases;
  const { points, scalars, expected } = smallCase(40);
  beforeAll(async () => {
    engine = await openEngine({ curve: smallCurve });
    bases = await engine.loadBases(points);
  });

  test('no vectors give no sums, and empty vectors give infinity', async () => {
    expect(await engine.msmBatch(bases, [])).toEqual([]);
    expect(await engine.msmBatch(bases, [[], new Uint8Array(0)])).toEqual([INFINITY, INFINITY]);
  });

  test('bigints, bytes, and the default offset are right', async () => {
    const bytes = encodeScalars(bn254G1, scalars);
    expect(await engine.msmBatch(bases, [scalars, bytes])).toEqual([expected, expected]);
  });

  test.each<[string, () => Promise<unknown>, RegExp]>([
    ['no array', () => engine.msmBatch(bases, null as never), /^scalars must be an array of vectors, got null/],
    [
      'no vector',
      () => engine.msmBatch(bases, [[1n], 7 as never]),
      /^scalars\[1\] must be bytes \(a Uint8Array, say\) or an array/,
    ],
    ['a hole', () => engine.msmBatch(bases, new Array(1) as never), /^scalars\[0\] must be bytes/],
    ['no scalar', () => engine.msmBatch(bases, [[], [1n, -1n]]), /^scalars\[1\]\[1\] must be in \[0, 2\^256\)/],
    ['half a scalar', () => engine.msmBatch(bases, [new Uint8Array(33)]), /^scalars\[0\]: 33 bytes/],
    ['too many', () => engine.msmBatch(bases, [[], scalars], { offsets: [0, 1] }), /^scalars\[1\]: 40 of them/],
    [
      'too few offsets',
      () => engine.msmBatch(bases, [[], []], { offsets: [0] }),
      /options\.offsets has 1 numbers for 2/,
    ],
    ['no offsets', () => engine.msmBatch(bases, [[]], { offsets: 3 as never }), /options\.offsets must be an array/],
    [
      'the offset of msm',
      () => engine.msmBatch(bases, [[]], { offset: 3 } as never),
      /^options\.offset is not an option of msmBatch; did you mean offsets\?$/,
    ],
    [
      'a missing offset',
      () => engine.msmBatch(bases, [[], []], { offsets: [0, undefined] as never }),
      /offsets\[1\] is missing/,
    ],
    ['half an offset', () => engine.msmBatch(bases, [[]], { offsets: [0.5] }), /^offsets\[0\] must be an integer/],
    ["others' bases", () => engine.msmBatch({} as never, []), /^bases must come from loadBases/],
  ])('%s is refused, and the engine goes on', async (_, call, message) => {
    await expect(call()).rejects.toMatchObject({ code: 'bad-argument', message: expect.stringMatching(message) });
    expect(await engine.msmBatch(bases, [scalars])).toEqual([expected]);
  });

  test('a batch reports progress, and an abort takes effect', async () => {
    const ticks: Progress[] = [];
    await engine.msmBatch(bases, [scalars, scalars], { onProgress: (progress) => ticks.push(progress) });
    expect(ticks).toEqual([0, 1].map((done) => ({ phase: 'msm', done, total: 1 })));
    const controller = new AbortController();
    const call = engine.msmBatch(bases, [scalars], { signal: controller.signal, onProgress: () => controller.abort() });
    await expect(call).rejects.toMatchObject({ code: 'aborted' });
    expect(await engine.msmBatch(bases, [scalars])).toEqual([expected]);
  });

  test('changes of the arrays after the call have no effect', async () => {
    const vectors = [[...scalars], encodeScalars(bn254G1, scalars)];
    const offsets = [0, 0];
    const call = engine.msmBatch(bases, vectors, { offsets });
    (vectors[0] as bigint[]).fill(1n);
    (vectors[1] as Uint8Array).fill(1);
    vectors.length = 0;
    offsets.fill(3);
    expect(await call).toEqual([expected, expected]);
  });
});

describe('batches of many vectors', () => {
  const bound = curveContext(bn254);
  const limits = {
    knobs: gpuKnobs,
    product: 'unsigned' as const,
    additionsPerMs: 2 ** 14,
    maxComputeInvocationsPerWorkgroup: 256,
    maxComputeWorkgroupSizeX: 256,
    maxComputeWorkgroupStorageSize: 16384,
    maxStorageBufferBindingSize: 2 ** 27,
    maxBufferSize: 2 ** 28,
  };

  const holds = (vectors: number, n: number, budgets: readonly number[]): void => {
    for (const additionsPerMs of [null, 2 ** 14]) {
      for (const budget of budgets) {
        const load = { load: fullWorkload(n, bound), offset: 0, indices: null };
        const jobs = schedule(
          new Array(vectors).fill(load),
          bound,
          { limits: { ...limits, additionsPerMs }, budget },
          {},
        );
        const parts = jobs.flatMap((job) => job.batches);
        const covered = new Map<number, number>();
        for (const { chunks } of parts) {
          for (const { vector, length } of chunks) covered.set(vector, (covered.get(vector) ?? 0) + length);
        }
        expect([...covered.values()].every((length) => length === n)).toBe(true);
        expect(covered.size).toBe(vectors);
        const least = parts.reduce(
          (sum, { plan }) => sum + Math.ceil(plan.additions / plan.tuning.additionsPerSubmit),
          0,
        );
        const submits = jobs.reduce((sum, job) => sum + job.submits, 0);
        // a window of a long vector may fill a submit by itself
        if (n <= 2 ** 16) expect(submits, `budget ${budget}`).toBeLessThanOrEqual(4 * least);
        for (const { scratch } of jobs) {
          for (const bytes of Object.values(scratch)) expect(bytes).toBeLessThanOrEqual(2 ** 28);
          expect(Object.values(scratch).reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(budget);
        }
        const widest = Math.max(...parts.map(({ plan }) => plan.tuning.windowBits));
        const alone = planMsm(fullWorkload(n, bound), bound, { limits: { ...limits, additionsPerMs }, budget }, {});
        expect(widest).toBeGreaterThanOrEqual(alone.tuning.windowBits - 1);
      }
    }
  };
  const title = '%i of %i scalars: no more submits than their additions ask for, and no buffer is too large';
  test.each([
    [10, 4096],
    [48, 4096],
    [128, 1024],
    [1000, 64],
    [9, 2 ** 20],
    [1, 2 ** 22],
  ])(title, (vectors, n) => holds(vectors, n, [2 ** 26, 2 ** 28, 2 ** 30]));
  // planning thousands of vectors takes half a second each time
  test.each([[5000, 1]])(title, (vectors, n) => holds(vectors, n, [2 ** 28]));
  test.each([[5000, 1]])(title, { tags: 'long' }, (vectors, n) => holds(vectors, n, [2 ** 26, 2 ** 30]));

  test('300 vectors of 8 scalars are right, on the GPU and on the CPU', async () => {
    const { points, scalars } = smallCase(8);
    for (const cpuBelow of [0, 2 ** 16]) {
      const engine = await openEngine({ curve: smallCurve, tuning: { cpuBelow } });
      const bases = await engine.loadBases(points);
      const vectors = Array.from({ length: 300 }, (_, i) => scalars.map((scalar) => scalar ^ BigInt(i % 3)));
      const sums = await engine.msmBatch(bases, vectors);
      for (const i of [0, 1, 2]) expect(await engine.msm(bases, vectors[i] as bigint[])).toEqual(sums[i]);
      sums.forEach((sum, i) => {
        expect(sum).toEqual(sums[i % 3]);
      });
      engine.destroy();
    }
  });
});

describe('warmup', () => {
  const { points, scalars, expected } = smallCase(40);

  test('compiles everything for all sizes and for a second engine on the device', async () => {
    const { gpu, devices } = await leaseGpu();
    const engine = await openEngine({ curve: smallCurve, gpu });
    await engine.warmup(2 ** 16);
    const compiled = engine.pipelines.length;
    expect(compiled).toBeGreaterThan(5);
    expect(await engine.msm(await engine.loadBases(points), scalars)).toEqual(expected);
    const second = await openEngine({ curve: smallCurve, device: devices[0]?.device as GPUDevice });
    expect(await second.msm(await second.loadBases(points), scalars)).toEqual(expected);
    expect(engine.pipelines).toHaveLength(compiled);
    expect(second.pipelines).toHaveLength(compiled);
  });

  test('keeps no memory, and rejects invalid sizes', async () => {
    const engine = await openEngine({ curve: smallCurve });
    await engine.warmup(1);
    expect(engine.memory).toEqual({ bases: 0, scalars: 0, scratch: 0, peak: 0 });
    for (const wrong of [0, -1, 1.5, Number.NaN, '5', undefined]) {
      await expect(engine.warmup(wrong as number)).rejects.toMatchObject({ code: 'bad-argument' });
    }
    engine.destroy();
    await expect(engine.warmup(1)).rejects.toMatchObject({ code: 'destroyed' });
  });
});
