/** Which small sums that wait are worth being computed together. */

/** Sums that are computed together, at most. */
const MOST_TOGETHER = 64;

/** What a call takes alone is at most prolonged to so much, by what is computed with it. */
const MOST_TIMES = 4;

/** What calls are expected to take on their backend, in milliseconds. */
export interface ExpectedTime {
  /** Of any call, however small. */
  readonly fixedMs: number;
  /** What one takes beyond that. */
  readonly growingMs: number;
}

/**
 * Which of those that wait are computed with the first. One that joins delays each of those that it joins by what it takes beyond the fixed part of a
 * call; that part it saves itself, and everybody who waits behind it. It joins where the first is not more than the second. So of two it is a small one
 * that joins, and of many that wait also a larger one, as it is the many who gain.
 *
 * @param others in the order in which they are due
 * @returns which, by index
 */
export const worthMerging = (first: ExpectedTime, others: readonly ExpectedTime[]): number[] => {
  const chosen: number[] = [];
  let left = (MOST_TIMES - 1) * (first.fixedMs + first.growingMs);
  for (const [i, { fixedMs, growingMs }] of others.entries()) {
    const joined = chosen.length + 1;
    if (joined === MOST_TOGETHER) break;
    const isWorse = joined * growingMs > (others.length - i) * fixedMs;
    if (isWorse || growingMs > left) continue;
    left -= growingMs;
    chosen.push(i);
  }
  return chosen;
};
