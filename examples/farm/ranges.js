/** An MSM is a sum, so it may be cut anywhere: Σ over [0, n) is the sum of the sums over ranges that cover it. */
import { FarmError } from './errors.js';

/**
 * [0, count) in so many ranges of about equal length, or in `count` of them where there are fewer pairs than that.
 *
 * @param {number} count pairs of a base and a scalar, at least 1
 * @param {number} ranges at least 1
 * @returns {{ first: number, count: number }[]} in order, none of them empty
 */
export function cutRanges(count, ranges) {
  for (const [name, value] of Object.entries({ count, ranges })) {
    if (!Number.isSafeInteger(value) || value < 1)
      throw new FarmError('bad-argument', `${name} is ${value}, and has to be a whole number from 1 on`);
  }
  const parts = Math.min(ranges, count);
  const edge = (/** @type {number} */ i) => Math.floor((i * count) / parts);
  return Array.from({ length: parts }, (_, i) => ({ first: edge(i), count: edge(i + 1) - edge(i) }));
}
