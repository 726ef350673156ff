/** `npm run ab`: its statistics, that A and B are in turn and checked, and the script itself on a build of its own. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { roundMaker, runPairs, summarise } from '../dev/ab/compare.js';
import { type ComparedEngine, Contestant } from '../dev/ab/contestant.js';
import { leastPairs, median, ratioOfMedians } from '../dev/bench/statistics.js';
import { ProductMeter } from '../dev/field-bench/product-meter.js';
import {
  type AffinePoint,
  bn254G1,
  decodeScalars,
  expectedMsm,
  makeKnownBases,
  Random,
} from '../dev/oracle/known-bases.mjs';
import { parseSettings } from '../scripts/ab/options.mjs';
import { getDevice } from './support/gpu.js';
import { inProject, runScript } from './support/run-script.js';

/** Times of a machine that takes `slowness(i)` times as long in pair i, with noise of about 10 %. */
const timesOf = (
  random: Random,
  n: number,
  ratio: number,
  slowness: (i: number) => number = () => 1,
): { a: number[]; b: number[] } => {
  const uniform = (): number => (random.u32() + 1) / 2 ** 32;
  // normally distributed, after Box and Muller
  const noise = (): number => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  const sample = (middle: number): number[] =>
    Array.from({ length: n }, (_, i) => middle * slowness(i) * Math.exp(0.1 * noise()));
  return { a: sample(100), b: sample(100 * ratio) };
};

describe('the ratio of medians', () => {
  it('of identical samples is 1, and shows no difference', () => {
    const times = [10, 11, 12, 13, 14, 15, 16];
    expect(ratioOfMedians(times, times)).toEqual({ ratio: 1, low: 1, high: 1, verdict: 'no difference' });
    const reversed = ratioOfMedians(times, times.toReversed());
    expect(reversed).toMatchObject({ ratio: 1, verdict: 'no difference' });
    expect(reversed.low).toBeLessThan(1);
    expect(reversed.high).toBeGreaterThan(1);
  });

  it('is that of b to a, for odd and for even lengths', () => {
    const a = [10, 12, 14, 11, 13, 15, 16, 9];
    const b = a.map((time) => 2 * time);
    for (const n of [7, 8]) {
      const first = a.slice(0, n);
      const slower = ratioOfMedians(first, b.slice(0, n));
      // pairs are drawn together: where b is always twice a, it is so in every resample
      expect(slower).toEqual({ ratio: 2, low: 2, high: 2, verdict: 'A is faster' });
      expect(ratioOfMedians(b.slice(0, n), first)).toEqual({ ratio: 0.5, low: 0.5, high: 0.5, verdict: 'B is faster' });
    }
    expect(ratioOfMedians([1, 3, 2, 4, 5, 6], [2, 9, 8, 3, 4, 5]).ratio).toBe(4.5 / 3.5);
  });

  it('has a 95 % interval that is repeatable, and the reciprocal for the exchanged samples', () => {
    const { a, b } = timesOf(new Random(5), 15, 1.5);
    const { ratio, low, high, verdict } = ratioOfMedians(a, b);
    expect(verdict).toBe('A is faster');
    expect(low).toBeLessThan(ratio);
    expect(high).toBeGreaterThan(ratio);
    expect(ratioOfMedians(a, b)).toEqual({ ratio, low, high, verdict });
    // few resamples, as the ends of many are the same for most seeds: they are ratios of a few values
    expect(ratioOfMedians(a, b, { resamples: 50, seed: 1 })).not.toEqual(
      ratioOfMedians(a, b, { resamples: 50, seed: 2 }),
    );
    const exchanged = ratioOfMedians(b, a);
    expect(exchanged.verdict).toBe('B is faster');
    expect(exchanged.low).toBeCloseTo(1 / high, 12);
    expect(exchanged.high).toBeCloseTo(1 / low, 12);
  });

  const coverage = (n: number, ratio: number, slowness?: (i: number) => number): number => {
    const random = new Random(n);
    const runs = Array.from({ length: 500 }, (_, seed) => {
      const { a, b } = timesOf(random, n, ratio, slowness);
      const { low, high } = ratioOfMedians(a, b, { seed, resamples: 400 });
      return low <= ratio && ratio <= high;
    });
    return runs.filter(Boolean).length / runs.length;
  };

  it.each([
    [leastPairs, 1],
    [15, 1],
    [16, 1.05],
    [25, 0.9],
  ])('of %i pairs covers the true ratio %d about 95 times in 100', (n, ratio) => {
    const covered = coverage(n, ratio);
    expect(covered).toBeGreaterThan(0.92);
    expect(covered).toBeLessThan(0.985);
  });

  it('covers it no less on a machine that becomes slow in the midst', () => {
    expect(coverage(15, 1, (i) => (i > 7 ? 2 : 1))).toBeGreaterThan(0.95);
    expect(coverage(15, 1, (i) => 1 + i / 30)).toBeGreaterThan(0.95);
  });

  it('has no verdict for fewer pairs than 95 % need', () => {
    expect(ratioOfMedians([2], [3])).toEqual({ ratio: 1.5, low: 1.5, high: 1.5, verdict: 'too few pairs' });
    const few = Array.from({ length: leastPairs - 1 }, () => 1);
    const fewer = few.map(() => 2);
    expect(ratioOfMedians(few, fewer).verdict).toBe('too few pairs');
    expect(ratioOfMedians([...few, 1], [...fewer, 2]).verdict).toBe('A is faster');
    // half of 2^(1 − n) at each end: what leastPairs is derived from
    expect(2 ** (1 - leastPairs)).toBeLessThan(0.05);
    expect(2 ** (2 - leastPairs)).toBeGreaterThan(0.05);
  });

  it.each([
    [[], []],
    [[1, 2], [1]],
    [[0], [1]],
    [[1], [Number.NaN]],
  ])('refuses %j and %j', (a, b) => {
    expect(() => ratioOfMedians(a, b)).toThrow(RangeError);
  });
});

const known = makeKnownBases(bn254G1, 8, 1);

/** Computes by the oracle, and writes down who was asked what. */
const fake = (name: string, log: string[], tamper = (sum: AffinePoint, _call: number) => sum): ComparedEngine => {
  let calls = 0;
  return {
    lastRun: null,
    loadBases: async () => ({ length: 8, byteLength: 0, destroy: () => undefined, [Symbol.dispose]: () => undefined }),
    msm: async (_, scalars) => {
      const values = decodeScalars(bn254G1, scalars as Uint8Array);
      log.push(`${name} ${values[0]}`);
      return tamper(expectedMsm(bn254G1, known.logs, values), calls++);
    },
  };
};

describe('the runner', () => {
  it('takes turns, and so does who begins; both of a pair have the same scalars, and every pair has others', async () => {
    const log: string[] = [];
    const [a, b] = [
      await Contestant.load('A', fake('A', log), known.bytes),
      await Contestant.load('B', fake('B', log), known.bytes),
    ];
    const meter = { measure: async () => log.push('rate') };
    const makeRound = roundMaker(known.logs, 'random', 1);
    const pairs = await runPairs(a, b, meter, 3, (i) => makeRound(`pair ${i + 1}`, i));
    expect(pairs.map(({ first }) => first)).toEqual(['A', 'B', 'A']);
    const who = log.map((entry) => entry.split(' ')[0]).join(' ');
    expect(who).toBe('rate A rate B rate B rate A rate A rate B rate');
    const scalars = log.flatMap((entry) => entry.split(' ').slice(1));
    expect(scalars.map((scalar) => scalars.indexOf(scalar))).toEqual([0, 0, 2, 2, 4, 4]);
  });

  it('stops at a wrong result, and says whose', async () => {
    const log: string[] = [];
    const wrong = (sum: AffinePoint, call: number): AffinePoint => (call === 1 ? { ...sum, y: sum.y + 1n } : sum);
    const a = await Contestant.load('A', fake('A', log), known.bytes);
    const b = await Contestant.load('B', fake('B', log, wrong), known.bytes);
    const makeRound = roundMaker(known.logs, 'random', 1);
    const run = runPairs(a, b, { measure: async () => 1 }, 5, (i) => makeRound(`pair ${i + 1}`, i));
    await expect(run).rejects.toThrow(/^WRONG: B, pair 2: /);
    expect(log.map((entry) => entry.split(' ')[0])).toEqual(['A', 'B', 'B']);
  });

  it('summarises: medians of the walls, and of wall × rate', () => {
    const pairs = [
      { first: 'A', a: { ms: 1000, productsPerSecond: 10 }, b: { ms: 2000, productsPerSecond: 10 } },
      { first: 'B', a: { ms: 2000, productsPerSecond: 5 }, b: { ms: 4000, productsPerSecond: 4 } },
      { first: 'A', a: { ms: 500, productsPerSecond: 20 }, b: { ms: 1000, productsPerSecond: 25 } },
    ] as const;
    expect(summarise(pairs, 1)).toEqual({
      a: { medianMs: 1000, productEquivalents: 10 },
      b: { medianMs: 2000, productEquivalents: 20 },
      productsPerSecond: 10,
      walls: { ratio: 2, low: 2, high: 2, verdict: 'too few pairs' },
      equivalents: { ratio: 2, low: 1.6, high: 2.5, verdict: 'too few pairs' },
    });
  });
});

describe('the product meter', () => {
  it('has a rate', async () => {
    const meter = await ProductMeter.make(await getDevice(), { software: true, leastMs: 1 });
    expect(median([await meter.measure(), await meter.measure()])).toBeGreaterThan(0);
    meter.destroy();
  });

  it('has none where the product is wrong', async () => {
    const device = await getDevice({ label: 'wrong' });
    const create = device.createShaderModule.bind(device);
    device.createShaderModule = (descriptor) =>
      create({ ...descriptor, code: descriptor.code.replace('x0 = product(x0, y)', 'x0 = product(x0, x0)') });
    await expect(ProductMeter.make(device, { software: true, leastMs: 1 })).rejects.toThrow(/^WRONG: product/);
  });
});

it('settings are numbers, words, true and false', () => {
  expect(parseSettings('a', '')).toEqual({});
  expect(parseSettings('a', 'walkerSlots=8, walkerTasks=2^12,fieldCarry=float,checks=false')).toEqual({
    walkerSlots: 8,
    walkerTasks: 4096,
    fieldCarry: 'float',
    checks: false,
  });
});

describe('the script', () => {
  // A build of its own, as `npm test` must neither need dist/ nor change it.
  const built = inProject('node_modules/.cache/webgpu-msm/built-for-ab');
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'webgpu-msm-ab-'));
    const outDir = join(built, 'dist');
    await build({ configFile: inProject('vite.lib.config.ts'), build: { outDir }, logLevel: 'error' });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const run = (...args: string[]) =>
    runScript('scripts/ab.mjs', ['--a-build', built, '--b-build', built, ...args], 60_000);

  it.each([
    ['--a walkerSlots', /^--a: 'walkerSlots' is not a setting/],
    ['--b walkerSlots=1,walkerSlots=2', /^--b: walkerSlots is given twice/],
    ['--b nonsense=1', /^--b: tuning\.nonsense is unknown; the knobs are .*walkerSlots/],
    ['--a walkerSlots=65', /^--a: tuning\.walkerSlots must be an integer from 1 to 64/],
    ['--scalars rnd', /^scalars: no distribution is named "rnd"/],
    ['--n 2^23', /^--n: /],
    ['--b-build /nowhere', /^--b-build: .*index\.js is not there/],
  ])('%s is a mistake on the command line', async (args, message) => {
    const { code, stdout, stderr } = await run(...args.split(' '));
    expect(stderr).toMatch(message);
    expect(stderr).toContain('usage: npm run ab');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  it('compares two configurations', async () => {
    const json = join(folder, 'ab.json');
    const settings = ['--a', 'walkerSlots=4', '--b', 'walkerSlots=8,cpuBelow=0'];
    const { code, stdout, stderr } = await run(...settings, '--n', '64', '--reps', '3', '--json', json);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^adapter: .+\nn = 64, /);
    expect(stdout).toMatch(
      /\nA +walkerSlots=4 .*gpu +[\d.]+ +[\d.]+\nB +walkerSlots=8, cpuBelow=0 .*gpu +[\d.]+ +[\d.]+\n/,
    );
    expect(stdout).toMatch(/\nB ÷ A = [\d.]+, 95 % interval [\d.]+ to [\d.]+ .*\nToo few pairs for a verdict/);
    const record = JSON.parse(readFileSync(json, 'utf8'));
    expect(record).toMatchObject({
      n: 64,
      reps: 3,
      sides: [{ settings: { walkerSlots: 4 } }, { tuning: { walkerSlots: 8 } }],
    });
    expect(record.pairs).toHaveLength(3);
  });

  it('catches a build that computes wrongly', async () => {
    const dist = join(folder, 'wrong/dist');
    mkdirSync(dist, { recursive: true });
    writeFileSync(join(folder, 'wrong/package.json'), '{"type":"module"}');
    writeFileSync(
      join(dist, 'index.js'),
      `export const createMsmEngine = async () => ({
        lastRun: null,
        loadBases: async () => ({}),
        msm: async () => ({ x: 1n, y: 2n, infinity: false }),
        destroy() {},
      });`,
    );
    const { code, stdout, stderr } = await run('--n', '64', '--reps', '3', '--b-build', join(folder, 'wrong'));
    expect(stderr).toContain('WRONG: B, warm-up 1: (0x1, 0x2) for ');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  });
});
