/** Scalars that are mostly zero, or short: the plan adapts, and the sums stay the same. */
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { type ScalarDistributionName, scalarDistributions } from '../../dev/cases/scalar-distributions.js';
import {
  bn254G1,
  encodeScalars,
  expectedMsm,
  groupOrder,
  INFINITY,
  makeKnownBases,
  Random,
} from '../../dev/oracle/known-bases.js';
import type { MsmEngine, RunRecord, Tuning } from '../../src/index.js';
import { type EngineOptions, openEngine } from '../support/engines.js';
import { leaseGpu } from '../support/leased-gpu.js';
import { smallCase, smallCurve } from '../support/small-curve.js';

const r = groupOrder(bn254G1);
const count = 2000;
const known = makeKnownBases(bn254G1, count, 41);
const create = (tuning: Partial<Tuning> = {}, options: EngineOptions = {}): Promise<MsmEngine> =>
  openEngine({ tuning, ...options });

/** Keeps the pipelines alive between tests. */
beforeAll(async () => {
  const keeper = await create();
  await keeper.warmup(count);
});

/** Returns n scalars, of which a share is nonzero. */
const sparse = (n: number, share: number, seed: number): bigint[] => {
  const random = new Random(seed);
  return Array.from({ length: n }, () => (random.u32() < share * 2 ** 32 ? random.belowBig(r) : 0n));
};

const expectSum = (scalars: readonly bigint[], offset = 0) => expectedMsm(bn254G1, known.logs.slice(offset), scalars);

describe('sums of scalars that are mostly zero', () => {
  const settings: [string, Partial<Tuning>, EngineOptions, number][] = [
    ['as it is', {}, {}, 1],
    ['checked between the stages, which picks nothing', {}, { checks: true }, 1],
    ['a tight budget', {}, { memoryBudget: 7e5 }, 1],
    ['a few additions a submit', { additionsPerSubmit: 2 ** 10 }, {}, 1],
    ['with tables', {}, {}, 5],
    ['the rest on the CPU', { cpuBelow: 100 }, {}, 1],
  ];
  const follows = async (
    _: string,
    more: Partial<Tuning>,
    options: EngineOptions,
    precompute: number,
  ): Promise<void> => {
    const engine = await create(more, options);
    const bases = await engine.loadBases(known.bytes, { precompute });
    for (const [share, offset] of [
      [0.4, 0],
      [0.1, 3],
      [0.01, 1000],
      [0.0005, 0],
      [0, 7],
    ] as const) {
      const scalars = sparse(count - offset, share, 9);
      const sum = await engine.msm(bases, encodeScalars(bn254G1, scalars), { offset });
      expect(sum, `${share} from ${offset}`).toEqual(expectSum(scalars, offset));
      expect(engine.lastRun?.n).toBe(count - offset);
    }
    if (options.memoryBudget !== undefined) {
      expect(engine.memory.peak).toBeLessThanOrEqual(options.memoryBudget);
    }
  };
  // further pipelines
  const isSlow = ([, , { checks }, precompute]: (typeof settings)[number]): boolean =>
    precompute > 1 || checks === true;
  test.each(settings.filter((setting) => !isSlow(setting)))('%s', follows);
  test.each(settings.filter(isSlow))('%s', { tags: 'long' }, follows);

  test('are right with one nonzero scalar at either end', async () => {
    const engine = await create();
    const bases = await engine.loadBases(known.bytes);
    for (const place of [0, 1, count - 2, count - 1]) {
      const scalars = Array.from({ length: count }, (_, i) => (i === place ? r - 2n : 0n));
      expect(await engine.msm(bases, scalars), `place ${place}`).toEqual(expectSum(scalars));
      expect(engine.lastRun?.entries).toBe(1);
    }
  });

  test('are right after a move to a device that binds less than the bases: scalars are surveyed again', async () => {
    const most = 2 ** 15;
    const { points, scalars, expected } = smallCase(count, (i) => (i % 999 === 0 ? BigInt(i + 3) ** 4n : 0n));
    const bound: number[] = [];
    const { gpu, devices } = await leaseGpu(({ device }) => {
      if (devices.length === 0) return;
      const { limits } = device;
      // of a prototype: nothing that is spread
      const own = Object.fromEntries(
        Object.keys(Object.getPrototypeOf(limits)).map((name) => [name, limits[name as 'maxBufferSize']]),
      );
      Object.defineProperty(device, 'limits', { value: { ...own, maxStorageBufferBindingSize: most } });
      const create = device.createBindGroup.bind(device);
      device.createBindGroup = (descriptor) => {
        for (const { resource } of descriptor.entries) bound.push((resource as GPUBufferBinding).size as number);
        return create(descriptor);
      };
    });
    const engine = await openEngine({ curve: smallCurve, gpu });
    const bases = await engine.loadBases(points);
    expect(bases.byteLength).toBeGreaterThan(most);
    expect(await engine.msm(bases, scalars)).toEqual(expected);
    devices[0]?.device.destroy();
    await devices[0]?.device.lost;
    expect(await engine.msm(bases, scalars)).toEqual(expected);
    expect(devices).toHaveLength(2);
    expect(Math.max(...bound)).toBeLessThanOrEqual(most);
  });

  test('need no points and no GPU if all scalars are zero', async () => {
    const engine = await create({}, { retainBases: false });
    const bases = await engine.loadBases(known.bytes);
    expect(await engine.msm(bases, new Uint8Array(32 * count))).toEqual(INFINITY);
    expect(engine.lastRun).toMatchObject({ on: 'cpu', n: count, entries: 0 });
  });

  test('are right in random batches of sparse and dense vectors', { tags: 'long' }, async () => {
    const engine = await create();
    const bases = await engine.loadBases(known.bytes, { precompute: 2 });
    const vector = fc.record({
      share: fc.constantFrom(0, 0.001, 0.05, 0.3, 0.6, 1),
      offset: fc.integer({ min: 0, max: count }),
      length: fc.integer({ min: 0, max: count }),
      seed: fc.nat(1000),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(vector, { minLength: 1, maxLength: 4 }), async (vectors) => {
        const all = vectors.map(({ share, offset, length, seed }) =>
          sparse(Math.min(length, count - offset), share, seed),
        );
        const offsets = vectors.map(({ offset }) => offset);
        expect(await engine.msmBatch(bases, all, { offsets })).toEqual(
          all.map((scalars, i) => expectSum(scalars, offsets[i])),
        );
      }),
      { numRuns: 10, seed: 3 },
    );
  });
});

test('nonzero digits decide the plan and the work', async () => {
  const engine = await create();
  const bases = await engine.loadBases(known.bytes);
  const run = async (name: ScalarDistributionName): Promise<RunRecord> => {
    const { values, bytes } = scalarDistributions[name].make(count, 5);
    expect(await engine.msm(bases, bytes), name).toEqual(expectSum(values));
    return engine.lastRun as RunRecord;
  };
  const random = await run('random');
  const share = async (name: ScalarDistributionName): Promise<number> => {
    const { entries, windows, windowBits } = await run(name);
    // the reduction adds every bucket twice
    return (entries + windows * 2 ** windowBits) / (random.entries + random.windows * 2 ** random.windowBits);
  };
  expect(await share('mostly-zero')).toBeLessThan(0.2);
  expect(await share('short-32')).toBeLessThan(0.25);
  expect(await share('zero-one')).toBeLessThan(0.06);
  expect(await share('all-one')).toBeLessThan(0.06);
  expect(await share('r-minus-one')).toBeLessThan(0.06);
  expect(await share('one-nonzero')).toBeLessThan(0.02);
});
