/** Groups of windows: what bounds the work of one submit, and the scratch that a large MSM takes. */
import { describe, expect, test } from 'vitest';
import { makeCase } from '../dev/cases/msm-case.js';
import { createMsmEngine, type Progress, type Tuning } from '../src/index.js';
import { getDevice } from './support/gpu.js';

const engineWith = async (tuning: Partial<Tuning>, memoryBudget?: number) =>
  createMsmEngine({
    curve: 'bn254',
    device: await getDevice(),
    tuning,
    ...(memoryBudget === undefined ? {} : { memoryBudget }),
  });

describe('windows in groups', () => {
  const { points, scalars, expected } = makeCase({
    points: 'few-with-signs',
    scalars: 'carry-patterns',
    n: 1000,
    seed: 4,
  });

  // 1 addition more or less than whole windows, one window a submit, and all in one
  test.each([2 ** 30, 13_000, 12_999, 2_000, 1_024])('at most %i additions a submit', async (additionsPerSubmit) => {
    const engine = await engineWith({ windowBits: 10, additionsPerSubmit });
    const bases = await engine.loadBases(points.bytes);
    const ticks: Progress[] = [];
    expect(await engine.msm(bases, scalars.bytes, { onProgress: (progress) => ticks.push(progress) })).toEqual(
      expected,
    );
    const windows = Math.ceil(255 / 10);
    const least = Math.ceil(windows / Math.max(1, Math.floor(additionsPerSubmit / 1000)));
    expect(engine.lastRun?.submits).toBe(Math.ceil(windows / Math.ceil(windows / least)));
    const submits = engine.lastRun?.submits as number;
    expect(ticks).toEqual(Array.from({ length: submits + 1 }, (_, done) => ({ phase: 'msm', done, total: submits })));
    engine.destroy();
  });

  test('abort takes effect at the next submit, and the engine goes on', async () => {
    const engine = await engineWith({ windowBits: 10, additionsPerSubmit: 1_024 });
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
    engine.destroy();
  });

  test('a tight budget makes groups before it makes chunks', async () => {
    const roomy = await engineWith({ windowBits: 8 });
    const bases = await roomy.loadBases(points.bytes);
    expect(await roomy.msm(bases, scalars.bytes)).toEqual(expected);
    const { peak } = roomy.memory;
    roomy.destroy();
    const budget = Math.floor(peak * 0.75);
    const tight = await engineWith({ windowBits: 8 }, budget);
    expect(await tight.msm(await tight.loadBases(points.bytes), scalars.bytes)).toEqual(expected);
    expect(tight.lastRun?.submits).toBeGreaterThan(1);
    expect(tight.memory.peak).toBeLessThanOrEqual(budget);
    tight.destroy();
  });
});
