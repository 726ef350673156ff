/**
 * Basis of comparisons: ratios of medians, interleaved repetitions, new scalars each time, and the
 * unit of costs.
 */
import { describe, expect, it } from 'vitest';
import { interleave } from '../../dev/bench/measure.js';
import { makeCase, redrawn } from '../../dev/cases/msm-case.js';
import { makeMeter } from '../../dev/field-bench/rig.js';
import { bn254G1, Random, samePoint, toAffinePoint } from '../../dev/oracle/known-bases.js';
import { leastPairs, median, ratioOfMedians } from '../../src/calibrate/statistics.js';
import { bn254 } from '../../src/curves/bn254.js';
import { getDevice } from '../support/gpu.js';
import { leaseDevice } from '../support/leased-gpu.js';
import { sleep } from '../support/time.js';

/**
 * Times of a machine that takes `slowness(i)` times as long in pair i, with noise of about 10 %.
 */
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
  it('is 1 for identical samples, and shows no difference', () => {
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

  it('has a repeatable 95 % interval, and the reciprocal for exchanged samples', () => {
    const { a, b } = timesOf(new Random(5), 15, 1.5);
    const { ratio, low, high, verdict } = ratioOfMedians(a, b);
    expect(verdict).toBe('A is faster');
    expect(low).toBeLessThan(ratio);
    expect(high).toBeGreaterThan(ratio);
    expect(ratioOfMedians(a, b)).toEqual({ ratio, low, high, verdict });
    // few resamples, as the ends of many are the same for most seeds: they are ratios of a few
    // values
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
    const runs = Array.from({ length: 4000 }, (_, seed) => {
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
  ])('of %i pairs covers the true ratio %d about 95 times in 100', { tags: 'long' }, (n, ratio) => {
    const covered = coverage(n, ratio);
    expect(covered).toBeGreaterThan(0.92);
    expect(covered).toBeLessThan(0.985);
  });

  it('covers it no less on a machine that becomes slow during the run', { tags: 'long' }, () => {
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

describe('the loop of repetitions', () => {
  it('alternates the order of settings, and calls its hooks once a repetition', async () => {
    const log: string[] = [];
    await interleave(['A', 'B'], 3, {
      begin: (repetition) => log.push(`begin ${repetition}`),
      take: async (who) => void log.push(who),
      end: async () => void log.push('end'),
    });
    expect(log.join(' ')).toBe('begin 1 A B end begin 2 B A end begin 3 A B end');
    const three: number[] = [];
    await interleave([0, 1, 2], 3, { take: async (who) => void three.push(who) });
    expect(three).toEqual([0, 1, 2, 1, 2, 0, 2, 0, 1]);
  });

  it('ends if a repetition fails', async () => {
    const log: string[] = [];
    const take = async (who: string, repetition: number): Promise<void> => {
      log.push(who);
      if (who === 'B' && repetition === 2) throw new Error('wrong');
    };
    await expect(interleave(['A', 'B'], 5, { take })).rejects.toThrow('wrong');
    expect(log).toEqual(['A', 'B', 'B']);
  });

  it('draws new scalars in every repetition, with the oracle’s answers', () => {
    const first = makeCase({ points: 'distinct', scalars: 'random', n: 8, seed: 1 });
    const cases = [1, 2, 3].map((draw) => redrawn(first, draw));
    const all = [first, ...cases].map(({ scalars }) => String(scalars.values[0]));
    expect(new Set(all).size).toBe(4);
    for (const { points, scalars, expected } of cases) {
      // added up by noble, point by point
      const sum = points.points.reduce(
        (total, { x, y }, i) => total.add(bn254G1.Point.fromAffine({ x, y }).multiply(scalars.values[i] as bigint)),
        bn254G1.Point.ZERO,
      );
      expect(samePoint(toAffinePoint(sum), expected)).toBe(true);
    }
  });
});

describe('the product meter', () => {
  const product = { product: 'unsigned', p: bn254.p } as const;

  it('measures a rate', async () => {
    const meter = await makeMeter(await getDevice(), true, product, 1);
    expect(median([await meter.measure(), await meter.measure()])).toBeGreaterThan(0);
    meter.destroy();
  });

  it('measures the same rate if every wait takes 100 ms more', { tags: 'long' }, async () => {
    const leastMs = 20;
    const plain = await makeMeter(await getDevice(), true, product, leastMs);
    const leased = await leaseDevice();
    let waits = 0;
    leased.tap = ({ method, proceed }) => {
      if (method !== 'onSubmittedWorkDone') return proceed();
      waits++;
      return (proceed() as Promise<undefined>).then(() => sleep(100));
    };
    const late = await makeMeter(leased.device, true, product, leastMs);
    expect(waits).toBeGreaterThan(5);
    const rates = { plain: [] as number[], late: [] as number[] };
    for (let i = 0; i < 7; i++) {
      rates.plain.push(await plain.measure());
      rates.late.push(await late.measure());
    }
    // 20 ms and 120 are six times apart
    const ratio = (median(rates.plain) as number) / (median(rates.late) as number);
    expect(ratio).toBeGreaterThan(1 / 2);
    expect(ratio).toBeLessThan(2);
    plain.destroy();
    late.destroy();
  });

  it('has no rate if the product is wrong', async () => {
    const device = await getDevice({ label: 'wrong' });
    const create = device.createShaderModule.bind(device);
    device.createShaderModule = (descriptor) =>
      create({
        ...descriptor,
        code: descriptor.code.replace('x0 = field_mul(field_loose(x0), y)', 'x0 = field_mul(field_loose(x0), x0)'),
      });
    await expect(makeMeter(device, true, product, 1)).rejects.toThrow(/^WRONG: product/);
  });
});
