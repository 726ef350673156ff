/**
 * Routing of calls: predicted times, learning from runs, division between backends; and simulations
 * of whole machines.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bn254 } from '../../src/curves/bn254.js';
import { curveContext } from '../../src/curves/curve.js';
import { bn254G2 } from '../../src/curves/pairing-friendly.js';
import { quadraticField } from '../../src/field/quadratic.js';
import {
  type Coefficients,
  type CostModel,
  cpuCoefficients,
  expectation,
  gpuCoefficients,
  growingMs,
  learned,
  type Work,
} from '../../src/msm/plan/cost.js';
import { Division, type Half, type Pace } from '../../src/msm/routing/division.js';
import { afterRun, decide, type Models, modelsOf, predict, routeOf } from '../../src/msm/routing/routing.js';
import { machines, simulate } from '../support/routing/simulation.js';
import { makeTrace } from '../support/routing/trace.js';

const curve = curveContext(bn254);
const prior: Coefficients = { fixedMs: 5, digitNs: 100, bucketNs: 200, byteNs: 1 };
const workOf = (digits: number): Work => ({ digits, buckets: digits / 10, bytes: digits });
const [small, large] = [workOf(1000), workOf(1_000_000)];

const expectedMs = (model: CostModel, work: Work): number => expectation(model)(work);

/** After calls that took `times` what is thought, and `fixed` times what is fixed. */
const afterCalls = (model: CostModel, works: readonly Work[], times: number, fixed = 1): CostModel =>
  works.reduce((now, work) => learned(now, work, fixed * prior.fixedMs + times * growingMs(prior, work)), model);

describe('the predicted time of a call', () => {
  const fresh: CostModel = { prior, runs: [] };

  test('comes at first from the profile of the adapter', () => {
    expect(expectedMs(fresh, large)).toBeCloseTo(5 + 100 + 20 + 1, 9);
  });

  test('does not change for one outlier, nor for two of six', () => {
    for (const ms of [0, 5000, 1e6]) {
      expect(expectedMs(learned(fresh, large, ms), large)).toBeCloseTo(expectedMs(fresh, large), 6);
    }
    const steady = afterCalls(fresh, [large, small, large, large], 1);
    for (const ms of [0.001, 1e5]) {
      expect(expectedMs(learned(learned(steady, large, ms), small, ms), large)).toBeCloseTo(126, 6);
    }
  });

  test('follows runs that are steadily different, of one size as well as of several', () => {
    for (const times of [0.1, 3, 40]) {
      for (const works of [Array(8).fill(large), [small, large, workOf(30_000), large, small, large, small, large]]) {
        const model = afterCalls(fresh, works, times);
        const wanted = 5 + times * 121;
        expect(expectedMs(model, large) / wanted).toBeGreaterThan(0.8);
        expect(expectedMs(model, large) / wanted).toBeLessThan(1.25);
      }
    }
    // what is fixed is told from what grows
    const slowToAnswer = afterCalls(fresh, [small, large, small, large, small, workOf(300_000), small, large], 1, 8);
    expect(expectedMs(slowToAnswer, small)).toBeGreaterThan(30);
    expect(expectedMs(slowToAnswer, large)).toBeLessThan(200);
  });

  test('is never below zero, whatever a clock says', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ digits: fc.integer({ min: 0, max: 1e8 }), ms: fc.double({ min: 0, max: 1e5, noNaN: true }) }),
          { maxLength: 12 },
        ),
        fc.integer({ min: 0, max: 1e8 }),
        (runs, digits) => {
          const model = runs.reduce((now, run) => learned(now, workOf(run.digits), run.ms), fresh);
          const ms = expectedMs(model, workOf(digits));
          expect(ms).toBeGreaterThanOrEqual(0);
          expect(ms).toBeLessThan(Number.POSITIVE_INFINITY);
        },
      ),
      { numRuns: 300, seed: 9 },
    );
  });

  test('depends on the field: pairs take longer than numbers, and an unknown GPU longer than a known one', () => {
    const pairs = curveContext(bn254G2, quadraticField);
    const known = { vendor: 'nvidia', architecture: 'ampere', software: false };
    const unknown = { vendor: '', architecture: '', software: false };
    expect(cpuCoefficients(pairs).digitNs).toBeGreaterThan(3 * cpuCoefficients(curve).digitNs);
    expect(gpuCoefficients(pairs, known).digitNs).toBeGreaterThan(3 * gpuCoefficients(curve, known).digitNs);
    expect(gpuCoefficients(curve, known).digitNs).toBeLessThan(gpuCoefficients(curve, unknown).digitNs);
    // where WebAssembly is forbidden
    expect(cpuCoefficients(curve, 'bigint').digitNs).toBeGreaterThan(4 * cpuCoefficients(curve).digitNs);
    const software = { ...known, software: true };
    expect(gpuCoefficients(curve, software).digitNs).toBeGreaterThan(cpuCoefficients(curve).digitNs);
  });
});

describe('the choice of a backend', () => {
  const models = (gpu: Partial<Coefficients>, cpu: Partial<Coefficients>) =>
    modelsOf({ ...prior, ...gpu }, { ...prior, ...cpu });
  const route = (of: ReturnType<typeof models>, work: Work, divides = true) =>
    routeOf(predict(of, { gpu: work, cpu: work }, divides));

  test('gives small calls to the CPU, large ones to a fast GPU, and divides a call if neither is far ahead', () => {
    const ahead = models(
      { fixedMs: 8, digitNs: 5, bucketNs: 10, byteNs: 0 },
      { fixedMs: 1, digitNs: 300, bucketNs: 600, byteNs: 0 },
    );
    expect(route(ahead, small)).toBe('cpu');
    expect(route(ahead, large)).toBe('gpu');
    const alike = models({ fixedMs: 8 }, { fixedMs: 1 });
    expect(route(alike, small)).toBe('cpu');
    expect(route(alike, large)).toBe('both');
    expect(route(alike, large, false)).toBe('cpu');
  });

  describe('an adapter of unknown speed', () => {
    const fast = { ...prior, fixedMs: 1, digitNs: 10, bucketNs: 20 };
    const works = { gpu: large, cpu: large };
    const decided = (of: Models, isReady = true) => decide(of, works, predict(of, works, true), isReady);
    const later = (of: Models, backend: 'gpu' | 'cpu', ms: number, times: number): Models =>
      Array.from({ length: times }).reduce((now: Models) => afterRun(now, { backend, work: large, ms }), of);

    test('that is software computes nothing, however fast it is expected or measured to be', () => {
      const fresh = modelsOf(fast, prior, 'software');
      for (const of of [fresh, later(fresh, 'gpu', 1, 9)]) {
        expect([decided(of), decided(of, false)]).toEqual(Array(2).fill({ route: 'cpu', first: 1 }));
      }
    });

    test('of guessed speed draws little at first, and at most twice the size that it was measured with', () => {
      const fresh = modelsOf(fast, prior, 'guessed');
      expect(decided(fresh)).toEqual({ route: 'both', first: 1 / 32 });
      const half = { digits: large.digits / 8, buckets: large.buckets / 8, bytes: large.bytes / 8 };
      const now = afterRun(fresh, { backend: 'gpu', work: half, ms: 3 });
      expect(decided(now).first).toBeCloseTo(1 / 4);
      expect(decided(later(fresh, 'gpu', 15, 1))).toEqual({ route: 'gpu', first: 1 });
      // a name that is known is believed
      expect(decided(modelsOf(fast, prior))).toEqual({ route: 'gpu', first: 1 });
    });
  });

  test('makes a divided call take a little more than half, if both are alike', () => {
    const { gpuMs, cpuMs, bothMs } = predict(models({}, {}), { gpu: large, cpu: large }, true);
    expect(gpuMs).toBe(cpuMs);
    expect(bothMs).toBeGreaterThan(gpuMs / 2);
    expect(bothMs).toBeLessThan(0.7 * gpuMs);
  });
});

/**
 * Two that draw until nothing is left, with real paces; how long each was at it, and what they
 * drew.
 */
const divide = (
  total: number,
  expected: Record<Half, Pace>,
  real: Record<Half, Pace>,
  cut?: (at: number) => number,
) => {
  const division = new Division(total, expected, cut);
  const free = { front: 0, back: 0 };
  const open = new Set<Half>(['front', 'back']);
  const drawn: { readonly who: Half; readonly from: number; readonly to: number }[] = [];
  while (open.size > 0) {
    const who = [...open].reduce((first, each) => (free[each] < free[first] ? each : first));
    division.done(who, free[who]);
    const range = division.draw(who, free[who]);
    if (range === null) open.delete(who);
    else {
      drawn.push({ who, ...range });
      free[who] += real[who].fixedMs + (range.to - range.from) / real[who].rate;
    }
  }
  return { free, drawn };
};

describe('the division of a call', () => {
  const paces = fc.record({
    fixedMs: fc.double({ min: 0, max: 50, noNaN: true }),
    rate: fc.double({ min: 0.1, max: 1e5, noNaN: true }),
  });
  const both = fc.record({ front: paces, back: paces });

  test('hands out everything once, the front from the start and the back from the end', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 1e6 }),
        both,
        both,
        fc.integer({ min: 1, max: 1000 }),
        (total, expected, real, step) => {
          const cut = (at: number) => Math.min(total, Math.round(at / step) * step);
          const { drawn } = divide(total, expected, real, cut);
          for (const { from, to } of drawn) expect(to).toBeGreaterThan(from);
          const front = drawn.filter(({ who }) => who === 'front');
          const back = drawn.filter(({ who }) => who === 'back').reverse();
          let at = 0;
          for (const { from, to } of [...front, ...back]) {
            expect(from).toBe(at);
            at = to;
          }
          expect(at).toBe(total);
        },
      ),
      { numRuns: 500, seed: 3 },
    );
  });

  test('takes hardly longer than the best division, if speeds are as predicted, or twice or half of that', () => {
    const [front, back] = [
      { fixedMs: 10, rate: 1000 },
      { fixedMs: 2, rate: 300 },
    ];
    const total = 1_000_000;
    for (const [f, b] of [
      [1, 1],
      [2, 1],
      [1, 2],
      [0.5, 1],
      [1, 0.5],
    ] as const) {
      const real = { front: { ...front, rate: f * front.rate }, back: { ...back, rate: b * back.rate } };
      const { free } = divide(total, { front, back }, real);
      const best = total / (real.front.rate + real.back.rate);
      expect(Math.max(free.front, free.back)).toBeLessThan(1.12 * best + 2 * (front.fixedMs + back.fixedMs));
    }
  });

  test('limits the first draw of the front', () => {
    const pace = { fixedMs: 1, rate: 100 };
    const division = new Division(1000, { front: pace, back: pace }, undefined, 1 / 32);
    expect(division.draw('front', 0)).toEqual({ from: 0, to: 32 });
    expect((division.draw('back', 0)?.from ?? 0) < 968).toBe(true);
  });

  test('leaves work to the other backend that would start later than the other could finish it', () => {
    const { drawn } = divide(
      100,
      { front: { fixedMs: 50, rate: 1e4 }, back: { fixedMs: 1, rate: 10 } },
      { front: { fixedMs: 50, rate: 1e4 }, back: { fixedMs: 1, rate: 10 } },
    );
    expect(drawn).toEqual([{ who: 'back', from: 0, to: 100 }]);
  });
});

describe('a simulated machine with a trace of 491 calls', () => {
  test.each(Object.keys(machines) as (keyof typeof machines)[])(
    '%s: within 5 % of the best choices, and never worse than the CPU or the GPU alone',
    (name) => {
      for (const seed of [1, 2, 3, 4, 5, 6]) {
        const { auto, best, cpu, gpu } = simulate(curve, machines[name], makeTrace(seed), seed);
        expect(auto / best, `seed ${seed}`).toBeLessThan(1.05);
        // what is as good as never the slower one can only be tried
        const most = name.startsWith('software') ? 1.05 : 1;
        expect(auto).toBeLessThan(most * cpu);
        expect(auto).toBeLessThan(most * gpu);
      }
    },
  );

  test('gives the same times for the same seed', () => {
    const again = () => simulate(curve, machines.laptop, makeTrace(7), 7);
    expect(again()).toEqual(again());
  });
});

describe('traces of calls', () => {
  test('have the published shape', () => {
    const trace = makeTrace(1);
    expect(trace).toHaveLength(491);
    for (const { n, nonZero } of trace) {
      expect(n).toBeGreaterThanOrEqual(2 ** 14);
      expect(n).toBeLessThanOrEqual(2 ** 17);
      expect(nonZero).toBeLessThanOrEqual(n);
    }
    const sparse = trace.filter(({ n, nonZero }) => nonZero < n / 2).length;
    expect(sparse).toBeGreaterThan(200);
    expect(sparse).toBeLessThan(400);
  });
});
