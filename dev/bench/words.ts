/** What a comparison and a sweep say, in words: the same on the page and in a terminal. */

import { leastPairs, type RatioOfMedians } from '../../src/calibrate/statistics.js';
import type { RowOf } from './rows.js';
import type { Fastest } from './summary.js';

/** The verdict, and what it rests on. */
export function comparisonWords(row: RowOf<'comparison'>): readonly [verdict: string, detail: string] {
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

/** The 95 % interval of a ratio; of too few pairs there is none. */
export const intervalWords = ({ low, high, verdict }: RatioOfMedians, digits = 2): string =>
  verdict === 'too few pairs' ? '–' : `${low.toFixed(digits)} to ${high.toFixed(digits)}`;

/** The same comparison in the unit that other runs can be compared in; it is no second verdict. */
export const equivalentsWords = ({ ratio, low, high }: RatioOfMedians): string =>
  `For other runs, in product equivalents B ÷ A: ${ratio.toFixed(3)}, 95 % interval ${low.toFixed(3)} to ${high.toFixed(3)}. The verdict rests on the walls.`;

/** How the best median of so many stands to the others. */
export const standingWords = <One>(
  { notToldApartFrom }: Fastest<One>,
  among: number,
  nameOf: (one: One) => string,
): string =>
  notToldApartFrom === null
    ? `the fastest of ${among}`
    : `the least median of ${among}, but these repetitions do not tell it apart from ${notToldApartFrom.map(nameOf).join('; ')}`;
