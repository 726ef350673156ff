/** Which small sums that wait are worth being computed together. */

/** Sums that are computed together, at most. */
const MOST_TOGETHER = 64;

/** What a call takes alone is at most prolonged to so much, by what is computed with it. */
const MOST_TIMES = 4;

/** What calls are expected to take on their backend, in milliseconds. */
export interface Expected {
  /** Of any call, however small. */
  readonly fixedMs: number;
  /** What one takes beyond that. */
  readonly growingMs: number;
}

/**
 * How many of those that wait are computed with the first: each of them takes the others no more time than the fixed part of a call, which it saves
 * those behind it. So nobody is delayed by more than is saved.
 *
 * @param others in the order in which they are due
 * @returns which, by index
 */
export const worthMerging = (first: Expected, others: readonly Expected[]): number[] => {
  const chosen: number[] = [];
  let left = (MOST_TIMES - 1) * (first.fixedMs + first.growingMs);
  for (const [i, { fixedMs, growingMs }] of others.entries()) {
    if (chosen.length + 1 === MOST_TOGETHER) break;
    if (growingMs > fixedMs || growingMs > left) continue;
    left -= growingMs;
    chosen.push(i);
  }
  return chosen;
};
