import { sortPasses } from '../stages/sort.js';
import { windowCount } from './window-count.js';
import { blocksOf, expectedDigits, type Workload } from './workload.js';

/**
 * Returns the additions of the reduction: each bucket is added to two sums; later additions are
 * few.
 */
export const reduceAdditions = (windowBits: number, windows: number): number => windows * 2 ** windowBits;

/**
 * Costs besides the additions of the walk, in additions. They are fitted to wall times of windows
 * of 9 to 14 bits at n = 2^12, 2^14 and 2^16 on SwiftShader, each of which gives 3.8 to 4.7 for a
 * bucket (docs/reference/performance.md). There is no fit for GPUs.
 */
const COST = {
  /** A digit, zero or not, which decompose writes and the sort reads. */
  digit: 0.05,
  /** A nonzero digit in a pass of the sort. */
  sorted: 0.04,
  /**
   * A bucket with entries: the end of its run, its clearing, and two additions of the reduction,
   * whose slots share fewer inversions.
   */
  bucket: 4.3,
  /** A bucket without entries. */
  emptyBucket: 0.3,
} as const;

/**
 * Widths within this factor of the cheapest count as equal. The narrowest has the fewest buckets,
 * which take memory and are less parallel.
 */
const NEAR_ENOUGH = 1.02;

/** Returns the cheapest c for the expected nonzero digits whose reduction fits a submit. */
export const defaultWindowBits = (load: Workload, additionsPerSubmit: number): number => {
  const blocks = blocksOf(load);
  const cost = (c: number): number => {
    const windows = load.vectors * windowCount(blocks.bits - 1, c);
    if (reduceAdditions(c, windows) > additionsPerSubmit) return Number.POSITIVE_INFINITY;
    const digits = expectedDigits(load, c);
    const buckets = windows * 2 ** (c - 1);
    const filled = buckets * (1 - Math.exp(-digits / buckets));
    return (
      digits * (1 + COST.sorted * sortPasses(c - 1).length) +
      COST.digit * load.n * blocks.count * windows -
      filled +
      COST.bucket * filled +
      COST.emptyBucket * (buckets - filled)
    );
  };
  // for tiny n narrower windows have fewer additions, but more of everything else
  const least = Number.isFinite(cost(4)) ? 4 : 2;
  const costs = Array.from({ length: 17 - least }, (_, i) => cost(least + i));
  const good = NEAR_ENOUGH * Math.min(...costs);
  return least + costs.findIndex((each) => each <= good);
};

/**
 * Returns the c with the fewest additions on the CPU: one for each nonzero digit, and two for each
 * bucket in the running sum (Bernstein, Doumen, Lange, Oosterwijk 2012).
 *
 * @param bits bits of the longest scalar
 * @param digits returns the number of nonzero digits of c bits
 */
export const cpuWindowBits = (bits: number, digits: (windowBits: number) => number): number => {
  const additions = (c: number): number => digits(c) + windowCount(bits, c) * 2 * 2 ** (c - 1);
  let best = 2;
  for (let c = 3; c <= 16; c++) if (additions(c) < additions(best)) best = c;
  return best;
};
