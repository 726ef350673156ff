/** Replays of traces: the scalars of their calls, and the score of their times. */
import { describe, expect, test } from 'vitest';
import { scoreOf } from '../../dev/bench/modes/replay/result.js';
import type { Routing } from '../../dev/bench/modes/replay/routings.js';
import { scalarsOf } from '../../dev/bench/modes/replay/scalars.js';
import { oracleOf } from '../../dev/oracle/curves.js';

const oracle = oracleOf({ curve: 'bn254', group: 'g1' });

describe('the scalars of a call', () => {
  test.each([
    [1, 1, 253],
    [1000, 1000, 253],
    [1000, 1, 253],
    [1000, 37, 32],
    [500, 499, 1],
    [64, 64, 256],
  ])('n = %d, %d that are not zero, of %d bits', (n, nonZero, bits) => {
    const { values, bytes } = scalarsOf({ n, nonZero, bits }, 5, oracle);
    expect(values).toHaveLength(n);
    expect(bytes).toHaveLength(32 * n);
    const filled = values.flatMap((value, i) => (value === 0n ? [] : [i]));
    expect(filled).toHaveLength(nonZero);
    expect(Math.max(...values.map((value) => value.toString(2).length))).toBe(bits);
    // no two far from where the others are
    const gaps = filled.slice(1).map((at, k) => at - (filled[k] as number));
    for (const gap of gaps) expect(Math.abs(gap - n / nonZero)).toBeLessThanOrEqual(1);
    expect(scalarsOf({ n, nonZero, bits }, 5, oracle).values).toEqual(values);
  });
});

describe('the score of replays', () => {
  const row = (call: number, routing: Routing, medianMs: number, on: 'gpu' | 'cpu' | 'both') => ({
    event: 'replayed' as const,
    ...{ call, routing, medianMs, on },
    ...{ n: 8, nonZero: 8, bits: 253, group: 'g1' as const, gpuShare: 0, predicted: null },
  });
  const call = (index: number, [gpu, cpu, both, auto]: readonly number[], chosen: 'gpu' | 'cpu' | 'both') => [
    row(index, 'gpu', gpu as number, 'gpu'),
    row(index, 'cpu', cpu as number, 'cpu'),
    row(index, 'both', both as number, 'both'),
    row(index, 'auto', auto as number, chosen),
  ];

  test('compares with the best backend of each call, and rates choices by measured times', () => {
    const rows = [...call(0, [10, 4, 7, 5], 'cpu'), ...call(1, [20, 90, 30, 29], 'both')];
    expect(scoreOf(rows)).toEqual({
      calls: 2,
      totalMs: { gpu: 30, cpu: 94, both: 37, auto: 34 },
      bestMs: 24,
      chosenMs: 34,
      chosen: { gpu: 0, cpu: 1, both: 1 },
    });
  });

  test('does not count a call that is half done', () => {
    const rows = [...call(0, [1, 2, 3, 1], 'gpu'), ...call(1, [1, 2, 3, 4], 'gpu').slice(0, 3)];
    expect(scoreOf(rows).calls).toBe(1);
    expect(scoreOf([]).calls).toBe(0);
  });
});
