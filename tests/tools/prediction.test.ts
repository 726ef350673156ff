/** The model that predicts times of GPUs: cases by hand, its shape, and the page of results. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bn254 } from '../../src/curves/bn254.js';
import { curveContext } from '../../src/curves/curve.js';
import { type CardOfChip, cards, cyclesOfCards, kernelsOfPrediction, walkCycles } from '../../tools/isa/cards.js';
import type { Figures } from '../../tools/isa/figures.js';
import {
  type Card,
  planFor,
  predictedMs,
  type WalkCycles,
  type WalkShape,
  walkMs,
  walksOf,
} from '../../tools/isa/prediction.js';
import { predictionTable, readCycles } from '../../tools/isa/prediction-table.js';
import { inProject } from '../support/run-script.js';

/** Ten schedulers at 1 GHz, and memory that costs nothing. */
const card: Card = {
  ...{ title: 'a card', schedulers: 10, lanes: 32, gigahertz: 1 },
  ...{ cacheBytes: 2 ** 30, cacheRate: 1e12, memoryRate: 1e12 },
};
const cycles: WalkCycles = {
  turn: { bound: 100, alone: 200 },
  inversion: { bound: 500, alone: 1000 },
  warps: 8,
};
/** 320 threads with two slots, a warp for each scheduler: ten steps. */
const walk: WalkShape = { entries: 6400, tasks: 640, slots: 2, leastThreads: 1, form: 'affine' };

describe('a walk', () => {
  test('takes the steps of a lone thread where each scheduler has one warp', () => {
    // 6 turns for each of 2 slots, and an inversion
    expect(walkMs(card, cycles, walk)).toBeCloseTo((10 * (12 * 200 + 1000)) / 1e6, 12);
  });

  test('is at the bound of the pipes where warps suffice', () => {
    const times = (factor: number): number =>
      walkMs(card, cycles, { ...walk, entries: factor * 6400, tasks: factor * 640 });
    // two warps take as long as one, four twice as long
    expect(times(2)).toBeCloseTo(times(1), 12);
    expect(times(4)).toBeCloseTo((4 * 10 * (12 * 100 + 500)) / 1e6, 12);
    expect(times(8)).toBeCloseTo(2 * times(4), 12);
  });

  test('runs in waves where a scheduler has no room for its warps', () => {
    const four = { ...walk, entries: 4 * 6400, tasks: 4 * 640 };
    expect(walkMs(card, { ...cycles, warps: 1 }, four)).toBeCloseTo(4 * walkMs(card, cycles, walk), 12);
  });

  test('fills fewer slots rather than few threads', () => {
    const one = walkMs(card, cycles, { ...walk, tasks: 320, entries: 3200, slots: 8, leastThreads: 320 });
    expect(one).toBeCloseTo((10 * (6 * 200 + 1000)) / 1e6, 12);
  });

  test('waits for its private memory: at the rate of the cache, or of memory beyond', () => {
    const slow = { ...card, cacheRate: 100, memoryRate: 10 };
    // private memory of 640 slots with 112 bytes each is in the cache; points come from memory
    expect(walkMs(slow, cycles, walk)).toBeCloseTo((6400 * (1300 / 100 + 150 / 10)) / 1e6, 9);
    const half = { ...slow, cacheBytes: (640 * 112) / 2 };
    const expected = 6400 * (1300 * (0.5 / 100 + 0.5 / 10) + 150 / 10);
    expect(walkMs(half, cycles, walk)).toBeCloseTo(expected / 1e6, 9);
  });

  test('in extended coordinates takes 10 products a step, or 14 where points are sums, and no private memory', () => {
    const extended: WalkShape = { entries: 3200, tasks: 320, slots: 1, leastThreads: 1, form: 'xyzz' };
    const ms = (form: WalkShape['form'], of = card): number => walkMs(of, cycles, { ...extended, form });
    expect(ms('xyzz, affine points')).toBeCloseTo((10 * 10 * 200) / 1e6, 12);
    expect(ms('xyzz')).toBeCloseTo((10 * 14 * 200) / 1e6, 12);
    const slow = { ...card, cacheRate: 1e-3, memoryRate: 1 };
    expect(ms('xyzz, affine points', slow)).toBeCloseTo((3200 * 150) / 1e6, 9);
    expect(ms('xyzz', slow)).toBeCloseTo((3200 * 280) / 1e6, 9);
  });

  test('without entries takes no time', () => {
    expect(walkMs(card, cycles, { ...walk, entries: 0 })).toBe(0);
  });

  test('takes no less time with more entries, more cycles, a slower clock or memory, a smaller cache', () => {
    const positive = (max: number) => fc.integer({ min: 1, max });
    const property = fc.property(
      ...([positive(2 ** 24), positive(2 ** 18), positive(16), positive(2 ** 14), positive(64)] as const),
      (entries, tasks, slots, leastThreads, warps) => {
        const shape = { entries, tasks, slots, leastThreads, form: 'affine' as const };
        const real = { ...card, cacheBytes: 2 ** 20, cacheRate: 1000, memoryRate: 100 };
        const own = { ...cycles, warps };
        const ms = walkMs(real, own, shape);
        expect(ms).toBeGreaterThan(0);
        const others = [
          walkMs(real, own, { ...shape, entries: entries + tasks }),
          walkMs(real, { ...own, turn: { bound: 150, alone: 300 } }, shape),
          walkMs(real, { ...own, inversion: { bound: 900, alone: 1800 } }, shape),
          ...[{ gigahertz: 0.5 }, { memoryRate: 50 }, { cacheBytes: 2 ** 18 }].map((less) =>
            walkMs({ ...real, ...less }, own, shape),
          ),
        ];
        for (const other of others) expect(other).toBeGreaterThanOrEqual(ms * (1 - 1e-12));
      },
    );
    fc.assert(property, { numRuns: 500, seed: 1 });
  });
});

describe('an MSM', () => {
  const curve = curveContext(bn254);
  const plan = planFor(curve, 'nvidia', 'ampere', 2 ** 16);

  test('has the walks of its plan: those of each group and those of the reduction', () => {
    const walks = walksOf(plan);
    expect(walks).toHaveLength(plan.groups * plan.levelTasks.length + plan.reduce.walks.length);
    const large = walksOf(planFor(curve, 'nvidia', 'ampere', 2 ** 20));
    // 17 windows in groups of 9 and 8, which bindings of 128 MiB bound
    expect(large.filter(({ tasks }) => tasks === 2 ** 17).map(({ entries }) => entries / 2 ** 20)).toEqual([9, 8]);
    expect(walks[0]).toMatchObject({ entries: 2 ** 16 * plan.windowsPerGroup, tasks: plan.levelTasks[0] });
    // a task leaves two carries
    expect(walks[1]).toMatchObject({ entries: 2 * (plan.levelTasks[0] as number), tasks: plan.levelTasks[1] });
    expect(walks.at(-1)).toMatchObject({ tasks: plan.reduce.bitSums });
  });

  test('takes its walks, the traffic of the sort, and its dispatches', () => {
    const walks = walksOf(plan).reduce((sum, each) => sum + walkMs(card, cycles, each), 0);
    const slow = { ...card, memoryRate: 1 };
    const sort = 2 ** 16 * plan.windows * 40 * (1 + plan.sortPasses.length);
    expect(predictedMs(card, cycles, plan)).toBeCloseTo(walks + plan.dispatches * 0.01, 6);
    const slowWalks = walksOf(plan).reduce((sum, each) => sum + walkMs(slow, cycles, each), 0);
    expect(predictedMs(slow, cycles, plan)).toBeCloseTo(slowWalks + sort / 1e6 + plan.dispatches * 0.01, 6);
  });
});

describe('cycles of a card', () => {
  const figures = (some: Partial<Figures>): Figures => ({
    ...{ instructions: 0, registers: null, spills: null, memory: null, waves: null, cycles: null, alone: null },
    ...{ codeBytes: null, compileSeconds: 0 },
    ...some,
  });
  const cardOf = (chip: string): CardOfChip => cards.find((each) => each.chip === chip) as CardOfChip;

  test('come from NVIDIA’s own compiler, with 40 rounds for an inversion', () => {
    const loop = (bound: number, alone: number) => ({ bound, alone, instructions: 1 });
    const found = walkCycles(cardOf('sm_90'), {
      ...{ walk: figures({ waves: 16 }), product: figures({ cycles: 1124, alone: 2248 }), inverse: figures({}) },
      loops: { walk: [loop(10, 99), loop(1500, 2800), loop(20, 30)], inverse: [loop(500, 700), loop(200, 300)] },
    });
    expect(found).toEqual({
      turn: { bound: 1504, alone: 3008 },
      inversion: { bound: 40 * 700, alone: 40 * 1000 },
      warps: 4,
    });
  });

  test('come from products elsewhere', () => {
    const some = {
      walk: figures({ waves: 14 }),
      product: figures({ cycles: 8992, instructions: 1124 }),
      inverse: figures({ cycles: 64_000, instructions: 1000 }),
    };
    expect(walkCycles(cardOf('navi31'), some)).toEqual({
      turn: { bound: 1504, alone: 3008 },
      inversion: { bound: 40_000, alone: 80_000 },
      warps: 14,
    });
    // without an estimate of cycles instructions count
    const plain = { ...some, product: figures({ instructions: 1124 }), inverse: figures({ instructions: 1000 }) };
    expect(walkCycles(cardOf('adreno740'), plain)).toEqual({
      turn: { bound: 1504, alone: 3008 },
      inversion: { bound: 27_200, alone: 54_400 },
      warps: 14,
    });
  });

  test('need every kernel', () => {
    expect(() => cyclesOfCards([])).toThrow('sm_90 has no walk_xyzz');
    expect(kernelsOfPrediction('m1').product).toBe('product words, fma');
  });
});

test('docs/reference/performance.md has what the model makes of the cycles on it', () => {
  const page = readFileSync(inProject('docs/reference/performance.md'), 'utf8');
  const [, section = ''] = /<!-- written by isa -->\n\n([\s\S]*?)\n\n<!-- end of what it wrote -->/.exec(page) ?? [];
  const renew = '`npm --prefix tools/isa start -- --write` renews it';
  expect(section, renew).toBe(predictionTable(readCycles(section)));
  expect(section.match(/\*predicted\*/g)).toHaveLength(3);
});
