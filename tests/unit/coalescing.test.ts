/**
 * Choice of waiting sums to compute together, by the time each costs the others and saves those
 * behind it.
 */
import { describe, expect, test } from 'vitest';
import { type ExpectedTime, worthCoalescing } from '../../src/msm/routing/routing.js';

const call = (growingMs: number, fixedMs = 10): ExpectedTime => ({ fixedMs, growingMs });
const many = (count: number, growingMs: number): ExpectedTime[] => Array.from({ length: count }, () => call(growingMs));

describe('merging of two sums', () => {
  test.each([
    [0, [0]],
    [10, [0]],
    [10.1, []],
  ])('one that takes %d ms beyond the 10 of any call', (growingMs, chosen) => {
    expect(worthCoalescing(call(100), [call(growingMs)])).toEqual(chosen);
  });
});

describe('merging of many sums', () => {
  test('sums join until the last one costs those before it more than it saves those behind it', () => {
    const chosen = worthCoalescing(call(1000), many(20, 20));
    // the i-th delays i others by 20 ms, and saves 21 - i waiting ones 10
    expect(chosen).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(7 * 20).toBeLessThanOrEqual(14 * 10);
    expect(8 * 20).toBeGreaterThan(13 * 10);
  });

  test('tiny sums all join, up to 64', () => {
    expect(worthCoalescing(call(1), many(100, 0.01))).toHaveLength(63);
  });

  test('a large sum is passed over, and small ones behind it join', () => {
    expect(worthCoalescing(call(30), [call(1), call(500), call(1)])).toEqual([0, 2]);
  });

  test('no sum takes more than four times the time of the first alone', () => {
    const chosen = worthCoalescing(call(5), many(60, 9));
    expect(chosen).toEqual([0, 1, 2, 3, 4]);
    expect(10 + 5 + 5 * 9).toBeLessThanOrEqual(4 * (10 + 5));
    expect(10 + 5 + 6 * 9).toBeGreaterThan(4 * (10 + 5));
  });
});

test('the total waiting time is never longer than without merging', () => {
  // all that wait at one moment, computed batch by batch or one by one
  const waits = (sizes: readonly number[], isMerged: boolean): number => {
    let [now, sum] = [0, 0];
    let left = sizes.map((growingMs) => call(growingMs));
    while (left.length > 0) {
      const [first, ...others] = left as [ExpectedTime, ...ExpectedTime[]];
      const chosen = isMerged ? worthCoalescing(first, others) : [];
      const batch = [first, ...chosen.map((i) => others[i] as ExpectedTime)];
      now += first.fixedMs + batch.reduce((total, { growingMs }) => total + growingMs, 0);
      sum += now * batch.length;
      left = others.filter((_, i) => !chosen.includes(i));
    }
    return sum;
  };
  let state = 1;
  const random = (): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  let gained = 0;
  for (let run = 0; run < 500; run++) {
    const sizes = Array.from({ length: 1 + Math.floor(40 * random()) }, () => 100 * random() ** 3);
    const [merged, single] = [waits(sizes, true), waits(sizes, false)];
    expect(merged).toBeLessThanOrEqual(single);
    if (merged < single) gained++;
  }
  expect(gained).toBeGreaterThan(400);
});
