/** Verdicts of comparisons and sweeps as text, for the page and for terminals. */

import { leastPairs, type RatioOfMedians } from '../../src/calibrate/statistics.js';
import type { RowOf } from './rows.js';
import type { Fastest } from './summary.js';

/** Returns the verdict, and the numbers it rests on. */
export function comparisonText(row: RowOf<'comparison'>): readonly [verdict: string, detail: string] {
  const { a, b, pairs, wallTimes } = row;
  const { ratio, low, high, verdict } = wallTimes;
  const measured = `ratio of the medians, B ÷ A: ${ratio.toFixed(3)}`;
  const interval = `${measured}; 95 % interval ${low.toFixed(3)} to ${high.toFixed(3)}, bootstrap over ${pairs} pairs`;
  switch (verdict) {
    case 'A is faster':
      return [verdict, `${b} takes ${ratio.toFixed(2)} times as long as ${a} (${interval})`];
    case 'B is faster':
      return [verdict, `${a} takes ${(1 / ratio).toFixed(2)} times as long as ${b} (${interval})`];
    case 'no difference':
      return ['No difference', `that these pairs show: the interval has 1 in it (${interval})`];
    case 'too few pairs':
      return ['Too few pairs', `for a verdict: ${pairs}, and ${leastPairs} are needed (${measured})`];
  }
}

/** Formats the 95 % interval of a ratio; too few pairs have none. */
export const intervalText = ({ low, high, verdict }: RatioOfMedians, digits = 2): string =>
  verdict === 'too few pairs' ? '–' : `${low.toFixed(digits)} to ${high.toFixed(digits)}`;

/**
 * Formats the comparison in product equivalents, which other runs can be compared in. It is not a
 * second verdict.
 */
export const equivalentsText = ({ ratio, low, high }: RatioOfMedians): string =>
  `For comparison with other runs, in product equivalents B ÷ A: ${ratio.toFixed(3)}, 95 % interval ${low.toFixed(3)} to ${high.toFixed(3)}. The verdict rests on the wall times.`;

/** Formats the rank of the best median among several. */
export const standingText = <One>(
  { notToldApartFrom }: Fastest<One>,
  among: number,
  nameOf: (one: One) => string,
): string =>
  notToldApartFrom === null
    ? `the fastest of ${among}`
    : `the least median of ${among}, but these repetitions do not tell it apart from ${notToldApartFrom.map(nameOf).join('; ')}`;
