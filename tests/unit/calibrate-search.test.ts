/** Search for the fastest setting, with a clock of the test, so that the true times are known. */
import { describe, expect, test } from 'vitest';
import { Random } from '../../dev/oracle/known-bases.js';
import type { Tuning } from '../../src/api/device.js';
import { leastRuns, search } from '../../src/calibrate/search.js';
import { leastPairs } from '../../src/calibrate/statistics.js';
import { defaultKnobs } from '../support/default-knobs.js';

/** About normal: the sum of twelve uniform numbers (the central limit). */
const normal = (random: Random): number =>
  Array.from({ length: 12 }, () => random.u32() / 2 ** 32).reduce((sum, x) => sum + x, -6);

interface Machine {
  /** Milliseconds of a setting, without noise; null where it is wrong. */
  truth(tuning: Partial<Tuning>, run: number): number | null;
  /** Standard deviation of the noise, as a part of the time. */
  readonly noise?: number;
  /** How much slower the machine is by its clock: what it did before, and for how long. */
  slowdown?(elapsedMs: number): number;
  readonly refuses?: (tuning: Partial<Tuning>) => boolean;
}

const searchOn = async ({ truth, noise = 0, slowdown = () => 1, refuses = () => false }: Machine, seed = 1) => {
  const random = new Random(seed);
  let [elapsed, alive, mostAlive, runs] = [0, 0, 0, 0];
  const found = await search({
    prepare: async (tuning) => {
      if (refuses(tuning)) return null;
      alive++;
      mostAlive = Math.max(mostAlive, alive);
      let [own, lives] = [0, true];
      return {
        tuning,
        resolved: { ...defaultKnobs, ...tuning } as Tuning,
        time: async () => {
          expect(lives).toBe(true);
          runs++;
          const plain = truth(tuning, own++);
          if (plain === null) return null;
          const ms = plain * slowdown(elapsed) * Math.exp(noise * normal(random));
          elapsed += ms;
          return ms;
        },
        destroy: () => {
          if (lives) alive--;
          lives = false;
        },
      };
    },
    budgetMs: 300,
    checkpoint: () => undefined,
  });
  expect(alive).toBe(0);
  // the defaults, the best so far, and three others of a round
  expect(mostAlive).toBeLessThanOrEqual(5);
  return { ...found, elapsed, runs };
};

const gain = (what: Partial<Tuning>, by: number) => (tuning: Partial<Tuning>) =>
  Object.entries(what).every(([knob, value]) => tuning[knob as keyof Tuning] === value) ? 2 / by : 2;

describe('noise changes no setting', () => {
  const changesNothing = async (noise: number): Promise<void> => {
    let changed = 0;
    for (let seed = 1; seed <= 60; seed++) {
      const { tuning } = await searchOn({ truth: () => 2, noise }, seed);
      if (Object.keys(tuning).length > 0) changed++;
    }
    // two of 60 would be a search that is wrong in 3 of 100
    expect(changed).toBeLessThanOrEqual(1);
  };
  const title = 'if all settings are alike, with noise of %d';
  test.each([0.2])(title, changesNothing);
  test.each([0.01, 0.05])(title, { tags: 'long' }, changesNothing);

  test('if the machine slows down while it is measured', async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const slowdown = (elapsed: number) => 1 + elapsed / 100;
      expect((await searchOn({ truth: () => 2, noise: 0.02, slowdown }, seed)).tuning).toEqual({});
    }
  });

  test('112 ms are no improvement on 114', async () => {
    for (let seed = 1; seed <= 10; seed++) {
      const truth = ({ walkerSlots }: Partial<Tuning>) => (walkerSlots === 32 ? 1.12 : 1.14);
      expect((await searchOn({ truth, noise: 0.002 }, seed)).tuning).toEqual({});
    }
  });
});

describe('a real gain is found', () => {
  test.each<Partial<Tuning>>([
    { fieldProduct: 'fma' },
    { walkerPrefixMemory: 'workgroup' },
    { walkerSlots: 32 },
    { walkerThreadsPerWorkgroup: 32 },
    { fieldProduct: 'fma', walkerSlots: 16 },
  ])('of 10 %% by %o', async (better) => {
    let alone = 0;
    for (let seed = 1; seed <= 20; seed++) {
      const truth = (tuning: Partial<Tuning>) =>
        Object.entries(better).reduce(
          (ms, [knob, value]) => (tuning[knob as keyof Tuning] === value ? ms / 1.1 : ms),
          2,
        );
      const { tuning } = await searchOn({ truth, noise: 0.02 }, seed);
      expect(tuning).toMatchObject(better);
      if (Object.keys(tuning).length === Object.keys(better).length) alone++;
    }
    // with so much noise something that changes nothing looks 3 % faster now and then
    expect(alone).toBeGreaterThanOrEqual(17);
  });

  test('the best of several settings wins', async () => {
    const ms: Readonly<Record<number, number>> = { 4: 2.4, 8: 2, 16: 1.7, 32: 1.5 };
    const truth = ({ walkerSlots = 8 }: Partial<Tuning>) => ms[walkerSlots] as number;
    expect((await searchOn({ truth, noise: 0.01 })).tuning).toEqual({ walkerSlots: 32 });
  });
});

test('every setting is reported beside the defaults of its own turns', async () => {
  // all settings are alike, and the machine is slower from the second round on
  const slowdown = (elapsed: number) => (elapsed > 100 ? 3 : 1);
  const { trials, tuning } = await searchOn({ truth: () => 2, slowdown });
  expect(tuning).toEqual({});
  const medians = trials.map(({ ms }) => ms as number);
  // so that medians of different rounds make the last settings look three times as slow
  expect(Math.max(...medians)).toBeGreaterThan(2.9 * Math.min(...medians));
  for (const { ms, defaults } of trials) {
    expect(defaults?.ratio).toBeCloseTo((ms as number) / (defaults?.ms as number), 12);
    expect(defaults?.ratio).toBeCloseTo(1, 1);
    expect(defaults?.low).toBeLessThanOrEqual(1);
    expect(defaults?.high).toBeGreaterThanOrEqual(1);
  }
  const { trials: faster } = await searchOn({ truth: gain({ walkerSlots: 4 }, 2) });
  expect(faster.find((trial) => trial.tuning.walkerSlots === 4)?.defaults).toEqual({
    ms: 2,
    ratio: 0.5,
    low: 0.5,
    high: 0.5,
  });
});

test('slots are not searched where sums are in extended coordinates', async () => {
  const { tuning, trials } = await searchOn({ truth: gain({ walkerCoordinates: 'xyzz' }, 2) });
  expect(tuning).toMatchObject({ walkerCoordinates: 'xyzz' });
  const extended = trials.filter((trial) => trial.tuning.walkerCoordinates === 'xyzz');
  expect(extended.length).toBeGreaterThan(1);
  for (const trial of extended) expect(Object.keys(trial.tuning)).not.toContain('walkerSlots');
});

test('a setting that was never right has no defaults beside it', async () => {
  const { trials } = await searchOn({ truth: ({ walkerSlots }) => (walkerSlots === 4 ? null : 2) });
  expect(trials.find(({ tuning }) => tuning.walkerSlots === 4)).toEqual({ tuning: { walkerSlots: 4 }, ms: null });
});

test('every setting is reported with its median', async () => {
  const { trials } = await searchOn({ truth: gain({ walkerSlots: 4 }, 2) });
  expect(trials.map(({ tuning }) => tuning)).toEqual([
    {},
    { fieldProduct: 'dot4' },
    { fieldProduct: 'fma' },
    { walkerCoordinates: 'xyzz' },
    { walkerPrefixMemory: 'workgroup' },
    { walkerSlots: 4 },
    { walkerSlots: 16 },
    { walkerSlots: 32 },
    { walkerSlots: 4, walkerThreadsPerWorkgroup: 32 },
    { walkerSlots: 4, walkerThreadsPerWorkgroup: 128 },
  ]);
  for (const { tuning, ms } of trials) expect(ms).toBe(tuning.walkerSlots === 4 ? 1 : 2);
});

describe('the time of a calibration', () => {
  test.each([0.1, 0.5, 1, 2, 3])('300 ms are enough if a run takes %d ms', async (ms) => {
    const { elapsed } = await searchOn({ truth: gain({ walkerSlots: 4 }, 1.2 * (2 / ms)), noise: 0 });
    const plain = await searchOn({ truth: () => ms, noise: 0 });
    for (const took of [elapsed, plain.elapsed]) expect(took).toBeLessThanOrEqual(300);
  });

  test('after that each setting of a round gets the fewest pairs that allow a verdict', async () => {
    const { runs } = await searchOn({ truth: () => 50 });
    // the defaults and the changes: 3 + 2 + 2 + 4 + 3 in five rounds
    expect(runs).toBe(leastPairs * 14);
    expect(runs).toBeLessThanOrEqual(leastRuns);
  });
});

describe('settings with wrong results', () => {
  test('are excluded', async () => {
    const { tuning, trials } = await searchOn({
      truth: gain({ walkerSlots: 32 }, 2),
      refuses: ({ fieldProduct }) => fieldProduct === 'fma',
    });
    expect(tuning).toEqual({ walkerSlots: 32 });
    expect(trials.filter(({ ms }) => ms === null)).toEqual([{ tuning: { fieldProduct: 'fma' }, ms: null }]);
  });

  test('are excluded also if only some results are wrong', async () => {
    const truth = ({ walkerSlots }: Partial<Tuning>, run: number) => (walkerSlots === 32 ? (run === 4 ? null : 1) : 2);
    const { tuning, trials } = await searchOn({ truth });
    expect(tuning).toEqual({});
    expect(trials.filter(({ ms }) => ms === null)).toEqual([{ tuning: { walkerSlots: 32 }, ms: null }]);
  });

  test.each([
    ['at once', { refuses: ({ fieldProduct }: Partial<Tuning>) => fieldProduct !== 'dot4', truth: () => 2 }],
    [
      'later',
      {
        truth: ({ fieldProduct }: Partial<Tuning>, run: number) => (fieldProduct !== 'dot4' && run === 3 ? null : 2),
      },
    ],
  ])('where the defaults are among them, the first that works stands for them: %s', async (_, machine) => {
    const { tuning, trials } = await searchOn(machine);
    expect(tuning).toEqual({ fieldProduct: 'dot4' });
    const wrong = trials.filter(({ ms }) => ms === null).map(({ tuning }) => tuning.fieldProduct);
    expect(wrong.toSorted()).toEqual(['fma', 'unsigned', undefined]);
  });

  test('leave everything unchanged if no setting works', async () => {
    const { tuning, trials } = await searchOn({ truth: () => 2, refuses: () => true });
    expect(tuning).toEqual({});
    expect(trials.every(({ ms }) => ms === null)).toBe(true);
  });
});
