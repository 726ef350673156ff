/** Groups of windows: they bound the work of one submit and the scratch of a large MSM. */
import { describe, expect, test, vi } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import { Runner } from '../../src/gpu/runner.js';
import { createMsmEngine, type Progress } from '../../src/index.js';
import { CallClock } from '../../src/session/call.js';
import { openEngine } from '../support/engines.js';
import { getDevice } from '../support/gpu.js';
import { leaseGpu } from '../support/leased-gpu.js';
import { gpuRunOf } from '../support/runs.js';
import { smallCase, smallCurve } from '../support/small-curve.js';
import { stopClock } from '../support/time.js';

test('time of the caller between submits does not count as the device’s', async () => {
  const runner = new Runner(await getDevice(), 2 ** 20);
  let ticks = 0;
  const { spend } = stopClock();
  const clock = new CallClock();
  const { submits } = await runner.run(
    {
      scratch: { words: 16 },
      uploads: [],
      commands: [{ kind: 'submit' }, { kind: 'submit' }],
      read: [{ buffer: 'words', size: 16 }],
      onSubmitted: () => {
        ticks++;
        spend(400);
      },
    },
    clock,
  );
  expect([submits, ticks]).toEqual([3, 2]);
  expect(clock.read().hostTimes.submitToResultMs).toBe(0);
  vi.restoreAllMocks();
  runner.destroy();
});

test('memory.peak is that of the engine, also after the loss of its device', { tags: 'long' }, async () => {
  const { gpu, devices } = await leaseGpu();
  const engine = await openEngine({ curve: smallCurve, gpu });
  const { points, scalars, expected } = smallCase(40);
  const bases = await engine.loadBases(points);
  expect(await engine.msm(bases, scalars)).toEqual(expected);
  const { peak } = engine.memory;
  devices[0]?.device.destroy();
  await devices[0]?.device.lost;
  await engine.msm(bases, scalars.slice(0, 1));
  expect(devices).toHaveLength(2);
  expect(engine.memory.scratch).toBeLessThan(peak);
  expect(engine.memory.peak).toBe(peak);
});

describe('groups of windows', () => {
  const { points, scalars, expected } = makeCase({
    points: 'few-with-signs',
    scalars: 'carry-patterns',
    n: 1000,
    seed: 4,
  });

  // 1 addition more or less than whole windows, one window a submit, and all in one
  const isBounded = async (additionsPerSubmit: number): Promise<void> => {
    const engine = await openEngine({ tuning: { windowBits: 10, additionsPerSubmit } });
    const bases = await engine.loadBases(points.bytes);
    const ticks: Progress[] = [];
    expect(await engine.msm(bases, scalars.bytes, { onProgress: (progress) => ticks.push(progress) })).toEqual(
      expected,
    );
    const windows = Math.ceil(255 / 10);
    const least = Math.ceil(windows / Math.max(1, Math.floor(additionsPerSubmit / 1000)));
    const perGroup = Math.ceil(windows / least);
    const groups = Math.ceil(windows / perGroup);
    // the reduction adds every bucket twice, and joins the last group if that leaves room for it
    const last = 1000 * (windows - (groups - 1) * perGroup);
    const apart = last + 2 * 2 ** 9 * windows > additionsPerSubmit;
    const { submits } = gpuRunOf(engine);
    expect(submits).toBe(groups + (apart ? 1 : 0));
    expect(ticks).toEqual(Array.from({ length: submits + 1 }, (_, done) => ({ phase: 'msm', done, total: submits })));
  };
  test.each([1_024])('have at most %i additions a submit', isBounded);
  test.each([2 ** 30, 13_000, 12_999, 2_000])('have at most %i additions a submit', { tags: 'long' }, isBounded);

  test('become chunks if there are more scalars than additions', async () => {
    const engine = await openEngine({ tuning: { windowBits: 5, additionsPerSubmit: 1_024 } });
    const twice = makeCase({ points: 'few-with-signs', scalars: 'carry-patterns', n: 2000, seed: 4 });
    expect(await engine.msm(await engine.loadBases(twice.points.bytes), twice.scalars.bytes)).toEqual(twice.expected);
    // two chunks, each of 51 windows one by one and of a reduction
    expect(gpuRunOf(engine).submits).toBe(2 * (51 + 1));
  });

  test('are cut for a slow GPU in the first run, which measures, and for the real one in the next', {
    tags: 'long',
  }, async () => {
    const { gpu } = await leaseGpu(undefined, { vendor: 'a GPU', architecture: '', device: '' });
    const engine = await createMsmEngine({
      ...{ curve: 'bn254', gpu, backend: 'gpu' },
      tuning: { fieldProduct: 'unsigned', walkerSlots: 16, walkerThreadsPerWorkgroup: 16 },
    });
    expect(engine.adapter.software).toBe(false);
    const large = makeCase({ points: 'distinct', scalars: 'random', n: 14_000, seed: 4 });
    const bases = await engine.loadBases(large.points.bytes);
    const run = async () => {
      expect(await engine.msm(bases, large.scalars.bytes)).toEqual(large.expected);
      return gpuRunOf(engine);
    };
    const first = await run();
    expect(first.tuning.additionsPerSubmit).toBe(2 ** 18);
    expect(first.entries).toBeGreaterThan(2 ** 18);
    expect(first.submits).toBeGreaterThan(1);
    // a tenth of a second's worth, as a power of two from 2^16 on; SwiftShader does not do even so
    // many
    const walkMs = first.phases?.find(({ name }) => name === 'walk')?.ms;
    const { additionsPerSubmit } = (await run()).tuning;
    expect(Math.log2(additionsPerSubmit) % 1).toBe(0);
    expect(additionsPerSubmit).toBeGreaterThanOrEqual(2 ** 16);
    if (walkMs !== undefined) {
      const worth = (100 * first.entries) / walkMs;
      expect(additionsPerSubmit).toBeLessThanOrEqual(Math.max(2 ** 16, worth));
      expect(2 * additionsPerSubmit).toBeGreaterThan(Math.min(2 ** 30, worth));
    }
    engine.destroy();
  });

  test('end with an abort at the next submit, and the engine stays usable', async () => {
    const engine = await openEngine({ tuning: { windowBits: 10, additionsPerSubmit: 1_024 } });
    const bases = await engine.loadBases(points.bytes);
    const controller = new AbortController();
    let ticks = 0;
    const call = engine.msm(bases, scalars.bytes, {
      signal: controller.signal,
      onProgress: () => {
        if (++ticks === 3) controller.abort();
      },
    });
    await expect(call).rejects.toMatchObject({ code: 'aborted' });
    expect(ticks).toBe(3);
    expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
  });

  test('come before chunks under a tight budget', async () => {
    const roomy = await openEngine({ tuning: { windowBits: 8 } });
    const bases = await roomy.loadBases(points.bytes);
    expect(await roomy.msm(bases, scalars.bytes)).toEqual(expected);
    const { peak } = roomy.memory;
    roomy.destroy();
    const budget = Math.floor(peak * 0.75);
    const tight = await openEngine({ tuning: { windowBits: 8 }, memoryBudget: budget });
    expect(await tight.msm(await tight.loadBases(points.bytes), scalars.bytes)).toEqual(expected);
    expect(gpuRunOf(tight).submits).toBeGreaterThan(1);
    expect(tight.memory.peak).toBeLessThanOrEqual(budget);
  });
});
