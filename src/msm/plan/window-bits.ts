import { sortPasses } from '../stages/sort.js';
import { windowCount } from './window-count.js';
import { blocksOf, expectedDigits, type Workload } from './workload.js';

/** Additions of the reduction: every bucket is added to two sums; what is done with those is little. */
export const reduceAdditions = (windowBits: number, windows: number): number => windows * 2 ** windowBits;

/**
 * What there is to do besides the additions of the walk, in additions. Fitted to walls of widths 9 to 14 at n = 2^12, 2^14 and 2^16 on SwiftShader,
 * which all ask for a bucket of 3.8 to 4.7 (docs/performance.md); on GPUs not measured yet.
 */
const COST = {
  /** A digit, zero or not: it is written by decompose and read by the sort. */
  digit: 0.05,
  /** A digit that is not zero, in a pass of the sort. */
  sorted: 0.04,
  /** A bucket with something in it: the end of its run, its clearing, and two additions of the reduction, which has fewer slots to share inversions. */
  bucket: 4.3,
  /** A bucket with nothing in it. */
  emptyBucket: 0.3,
} as const;

/** Of widths that cost about the same the narrowest is taken: it has the fewest buckets, which take memory, and parallelise less well than the walk. */
const NEAR_ENOUGH = 1.02;

/** The c that costs least, by the digits that are expected not to be zero. The reduction must fit a submit. */
export const defaultWindowBits = (load: Workload, additionsPerSubmit: number): number => {
  const pieces = blocksOf(load);
  const cost = (c: number): number => {
    const windows = load.vectors * windowCount(pieces.bits - 1, c);
    if (reduceAdditions(c, windows) > additionsPerSubmit) return Number.POSITIVE_INFINITY;
    const digits = expectedDigits(load, c);
    const buckets = windows * 2 ** (c - 1);
    const filled = buckets * (1 - Math.exp(-digits / buckets));
    return (
      digits * (1 + COST.sorted * sortPasses(c - 1).length) +
      COST.digit * load.n * pieces.count * windows -
      filled +
      COST.bucket * filled +
      COST.emptyBucket * (buckets - filled)
    );
  };
  // narrower ones have fewer additions still where n is tiny, and more of everything else
  const least = Number.isFinite(cost(4)) ? 4 : 2;
  const costs = Array.from({ length: 17 - least }, (_, i) => cost(least + i));
  const good = NEAR_ENOUGH * Math.min(...costs);
  return least + costs.findIndex((each) => each <= good);
};

/**
 * The c of the CPU, with the fewest additions: as many as there are digits to fill the buckets, two for each bucket to sum them up.
 *
 * @param bits of the longest scalar
 * @param digits how many digits of c bits are not zero
 */
export const cpuWindowBits = (bits: number, digits: (windowBits: number) => number): number => {
  const additions = (c: number): number => digits(c) + windowCount(bits, c) * 2 * 2 ** (c - 1);
  let best = 2;
  for (let c = 3; c <= 16; c++) if (additions(c) < additions(best)) best = c;
  return best;
};
