/** Request coalescing: selects the waiting small MSMs that are worth computing as one batch. */

/** Maximum number of calls in a batch. */
const MOST_TOGETHER = 64;

/** A batch takes at most this many times as long as its first call alone. */
const MOST_TIMES = 4;

/** Expected time of a call on its backend, in milliseconds. */
export interface ExpectedTime {
  /** Time that every call takes, however small. */
  readonly fixedMs: number;
  /** Time beyond the fixed part. */
  readonly growingMs: number;
}

/**
 * Selects the waiting calls to compute together with the first. A call that joins delays each
 * call of the batch by its growing time. It saves its fixed time, for itself and for every call
 * behind it. It joins if the delay in all is not more than the saving in all. So of two calls only
 * a small one joins. Of many waiting calls a larger one joins as well, because many gain.
 *
 * @param others waiting calls in the order in which they would start
 * @returns indices of the selected calls
 */
export const worthCoalescing = (first: ExpectedTime, others: readonly ExpectedTime[]): number[] => {
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
