/** Verdicts of comparisons and sweeps as text, for the page and for terminals. */

import { leastPairs, type RatioOfMedians } from '../../src/calibrate/statistics.js';
import { formatSpeed } from './format.js';
import type { RowOf } from './rows.js';
import type { Fastest } from './summary.js';

const verdictWords: Readonly<Record<RatioOfMedians['verdict'], string>> = {
  'A is faster': 'A is faster',
  'B is faster': 'B is faster',
  'no difference': 'no significant difference',
  'too few pairs': 'too few pairs',
};

export const verdictText = ({ wallTimes }: RowOf<'comparison'>): string => verdictWords[wallTimes.verdict];

/** Returns the ratio of a comparison with its interval: `B/A 1.07, 95 % CI 0.74 to 1.39`. */
export function ratioText(of: RatioOfMedians): string {
  const digits = Math.abs(of.ratio - 1) < 0.02 ? 3 : 2;
  const interval = of.verdict === 'too few pairs' ? '' : `, 95 % CI ${intervalText(of, digits)}`;
  return `B/A ${of.ratio.toFixed(digits)}${interval}`;
}

/** Returns the sentence that says the result of a comparison. */
export function comparisonText({ a, b, pairs, wallTimes }: RowOf<'comparison'>): string {
  const { ratio, verdict } = wallTimes;
  const measured = `(${ratioText(wallTimes)})`;
  switch (verdict) {
    case 'A is faster':
      return `A (${a}) is ${formatSpeed(ratio)} than B (${b}) ${measured}.`;
    case 'B is faster':
      return `B (${b}) is ${formatSpeed(1 / ratio)} than A (${a}) ${measured}.`;
    case 'no difference':
      return `No significant difference ${measured}.`;
    case 'too few pairs':
      return `Too few pairs for a verdict: ${pairs}, and ${leastPairs} are needed ${measured}.`;
  }
}

/** Formats the 95 % interval of a ratio; too few pairs have none. */
export const intervalText = ({ low, high, verdict }: RatioOfMedians, digits = 2): string =>
  verdict === 'too few pairs' ? '–' : `${low.toFixed(digits)} to ${high.toFixed(digits)}`;

/**
 * Formats the comparison in product equivalents, which other runs can be compared in. It is not a
 * second verdict.
 */
export const equivalentsText = (of: RatioOfMedians): string =>
  `To compare with other runs, in product equivalents: ${ratioText(of)}. The verdict rests on the total times.`;

/** Formats the rank of the best median among several. */
export const standingText = <One>(
  { notToldApartFrom, isTooFew }: Fastest<One>,
  among: number,
  nameOf: (one: One) => string,
): string => {
  if (notToldApartFrom === null) return `the fastest of ${among}`;
  return isTooFew
    ? `the lowest median of ${among}, from too few repetitions for a verdict`
    : `the lowest median of ${among}, but not significantly faster than ${notToldApartFrom.map(nameOf).join('; ')}`;
};
