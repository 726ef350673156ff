/** Probes of WebAssembly's arithmetics, on platforms whose truth is known. */
import { afterEach, describe, expect, expectTypeOf, test, vi } from 'vitest';
import { Random } from '../../dev/oracle/known-bases.js';
import type { Code } from '../../src/wasm/encoder/code.js';
import { roundsOnce } from '../../src/wasm/floats/float-kernel.js';
import { LaneRace } from '../../src/wasm/points/fastest-first.js';

/** A platform's multiply-add, with one rounding or two by the number of the call. */
const maddThat = (isFusedIn: (call: number) => boolean) => {
  let calls = 0;
  return (a: number, b: number, c: number): number => {
    const isFused = isFusedIn(calls++);
    // the argument of the probe: the exact sum is a product of powers of two
    return isFused && a === 1 + 2 ** -30 && b === 1 - 2 ** -30 && c === -1 ? -(2 ** -60) : a * b + c;
  };
};

test.each([
  ['rounds once', () => true, true],
  ['rounds twice', () => false, false],
  ['rounds twice once it is hot', (call: number) => call < 1420, false],
  ['rounds once when it is hot only', (call: number) => call >= 8, false],
] as const)('floats are used on a platform that %s: %s', (_, isFusedIn, isUsed) => {
  expect(roundsOnce(maddThat(isFusedIn))).toBe(isUsed);
});

test('no other relaxed instruction can be written than the one that is probed', () => {
  type Relaxed = Extract<Parameters<Code['do']>[number], `${string}relaxed${string}`>;
  expectTypeOf<Relaxed>().toEqualTypeOf<'f64x2.relaxed_madd'>();
});

describe('the faster kind of lanes', () => {
  afterEach(() => vi.restoreAllMocks());

  /**
   * Runs calls on a machine whose clock is the test's.
   *
   * @param oneFaster speed of one lane divided by that of two
   * @param slow share of the time in which other programs have the core for a while
   * @returns whether two lanes came first, by call
   */
  const calls = (oneFaster: number, slow: number, seed: number): boolean[] => {
    const random = new Random(seed);
    let now = 0;
    let [until, factor] = [0, 1];
    const spend = (ms: number): void => {
      if (now > until) [until, factor] = [now + 1 + random.below(8), random.below(1000) < 1000 * slow ? 3 : 1];
      now += ms * factor;
    };
    // a clock of a millisecond, as pages without isolation have
    vi.spyOn(performance, 'now').mockImplementation(() => Math.floor(now));
    const race = new LaneRace([() => spend(0.08), () => spend(0.08 / oneFaster)]);
    return Array.from({ length: 20 }, () => {
      now += 300;
      return race.areTwoFaster();
    });
  };

  test.each([
    [1.43, 0, false],
    [0.9, 0, true],
    [1.43, 0.5, false],
    [0.9, 0.5, true],
  ])(
    'one lane is %f times as fast, %f of the time is another program’s: two first is %s after some calls',
    (oneFaster, slow, isTwo) => {
      const wrong = Array.from({ length: 20 }, (_, seed) => calls(oneFaster, slow, seed + 1).at(-1)).filter(
        (each) => each !== isTwo,
      );
      expect(wrong).toEqual([]);
    },
  );
});
