/**
 * Cuts an MSM into ranges. An MSM is a sum, so the sums over ranges that cover [0, n) add up to it.
 */
import { FarmError } from './errors.js';

/**
 * Returns [0, count) in `ranges` ranges of about equal length, or in `count` ranges if that is
 * fewer.
 *
 * @param {number} count pairs of a base and a scalar, at least 1
 * @param {number} ranges at least 1
 * @returns {{ first: number, count: number }[]} non-empty ranges in order
 */
export function cutRanges(count, ranges) {
  for (const [name, value] of Object.entries({ count, ranges })) {
    if (!Number.isSafeInteger(value) || value < 1)
      throw new FarmError('bad-argument', `${name} is ${value}; it must be a whole number, 1 or more`);
  }
  const parts = Math.min(ranges, count);
  const edge = (/** @type {number} */ i) => Math.floor((i * count) / parts);
  return Array.from({ length: parts }, (_, i) => ({ first: edge(i), count: edge(i + 1) - edge(i) }));
}
