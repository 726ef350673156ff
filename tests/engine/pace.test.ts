/** Measured rate of additions of a device, and how runs change it. */
import { afterEach, expect, test, vi } from 'vitest';
import { makeCase } from '../../dev/cases/msm-case.js';
import { Runner } from '../../src/gpu/runner.js';
import { createMsmEngine, type GpuRun } from '../../src/index.js';
import { learnedRate } from '../../src/msm/plan/cost.js';
import { leaseGpu } from '../support/leased-gpu.js';
import { gpuRunOf } from '../support/runs.js';

afterEach(() => {
  vi.restoreAllMocks();
});

const LARGE = 2 ** 18;

test('a run changes the measured rate by a factor of 8 at most, in either direction', () => {
  expect(learnedRate(1000, LARGE, LARGE / 7999)).toBeCloseTo(7999);
  expect(learnedRate(1000, LARGE, LARGE / 8001)).toBe(8000);
  expect(learnedRate(1000, LARGE, 1e-9)).toBe(8000);
  expect(learnedRate(1000, LARGE, LARGE / 126)).toBeCloseTo(126);
  expect(learnedRate(1000, LARGE, LARGE / 124)).toBe(125);
  expect(learnedRate(1000, LARGE, 1e12)).toBe(125);
});

test('the first run changes the assumed rate by 8 at most: 2^18 additions in 100 ms', () => {
  expect(learnedRate(null, LARGE, 1e-9)).toBeCloseTo((8 * 2 ** 18) / 100);
  expect(learnedRate(null, LARGE, 1e12)).toBeCloseTo(2 ** 18 / 100 / 8);
  expect(learnedRate(null, LARGE, 50)).toBeCloseTo(2 ** 18 / 50);
});

test('the rate follows a real change in steps', () => {
  let rate = learnedRate(1000, LARGE, LARGE / 100_000);
  expect(rate).toBe(8000);
  rate = learnedRate(rate, LARGE, LARGE / 100_000);
  expect(rate).toBe(64_000);
  expect(learnedRate(rate, LARGE, LARGE / 100_000)).toBeCloseTo(100_000);
});

test('short runs and invalid times do not change the rate', () => {
  for (const before of [null, 1000]) {
    expect(learnedRate(before, LARGE - 1, 50)).toBe(before);
    for (const ms of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) expect(learnedRate(before, LARGE, ms)).toBe(before);
  }
});

test('a wrong clock of a GPU does not mislead an engine', { tags: 'long' }, async () => {
  const { gpu } = await leaseGpu(undefined, { vendor: 'a GPU', architecture: '', device: '' });
  const engine = await createMsmEngine({
    curve: 'bn254',
    gpu,
    backend: 'gpu',
    tuning: { fieldProduct: 'unsigned', walkerSlots: 16, walkerThreadsPerWorkgroup: 16 },
  });
  const { points, scalars, expected } = makeCase({ points: 'distinct', scalars: 'random', n: 14_000, seed: 4 });
  const bases = await engine.loadBases(points.bytes);
  const { run } = Runner.prototype;
  /** A run whose passes take `nanoseconds` each, one after the other; and the bound of the next. */
  const runWith = async (nanoseconds: bigint): Promise<GpuRun> => {
    vi.spyOn(Runner.prototype, 'run').mockImplementation(async function (this: Runner, ...given) {
      const result = await run.apply(this, given);
      const { length } = given[0].commands;
      const passes = Array.from({ length }, (_, i) => {
        const begin = BigInt(i) * nanoseconds;
        return { phase: 'walk', submit: 0, begin, end: begin + nanoseconds };
      });
      return { ...result, passes };
    });
    expect(await engine.msm(bases, scalars.bytes)).toEqual(expected);
    vi.restoreAllMocks();
    return gpuRunOf(engine);
  };

  const first = await runWith(1n);
  expect(first.entries).toBeGreaterThan(LARGE);
  expect(first.tuning.additionsPerSubmit).toBe(2 ** 18);
  expect(first.phases?.[0]?.ms).toBeLessThan(0.001);

  // an hour a pass
  const second = await runWith(3_600_000_000_000n);
  expect(second.tuning.additionsPerSubmit).toBe(2 ** 21);
  expect([second.phases, second.timeline]).toEqual([null, null]);

  // the host's time counted: at most an eighth of what was thought before it, and no hours
  const worth = (100 * second.entries) / (second.hostTimes?.submitToResultMs as number);
  const third = await runWith(1n);
  expect(third.tuning.additionsPerSubmit).toBe(2 ** Math.max(18, Math.floor(Math.log2(worth))));
  engine.destroy();
});
