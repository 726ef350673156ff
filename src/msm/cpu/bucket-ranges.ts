/** Cuts the bucket rows of an operand into ranges that are added up one after the other. */
import type { PointAt } from '../../wasm/points/point-adder.js';
import { type BucketRange, bucketsIn } from './bucket-sums.js';
import type { DigitShape } from './digits.js';
import { blocksOf } from './point-blocks.js';

/** Logarithm of the buckets in a row. */
export const ROW_BITS = 6;

/** Returns the logarithm of the rows in a window. */
export const rowBits = (windowBits: number): number => Math.max(0, windowBits - 1 - ROW_BITS);

/** Digits of the windows that are added up together at most: enough for long lists of additions. */
const MOST_DIGITS = 2 ** 14;

/** Buckets whose sums are in memory at a time, if the points are not; else those of one range. */
const MOST_BUCKETS = 2 ** 14;

/** Returns how many windows are added up together. */
const windowsTogether = (count: number): number => Math.max(1, Math.floor(MOST_DIGITS / count));

/** Yields ranges of the rows `from` to `to`: whole windows together where possible, else a part. */
function* rangesOf(
  { windowBits, count }: Pick<DigitShape, 'windowBits' | 'count'>,
  from: number,
  to: number,
): Generator<BucketRange> {
  const rows = 2 ** rowBits(windowBits);
  const width = 2 ** (windowBits - 1) / rows;
  const together = windowsTogether(count);
  for (let row = from; row < to; ) {
    const [first, own] = [Math.floor(row / rows), row % rows];
    const whole = own === 0 ? Math.min(Math.floor((to - row) / rows), together) : 0;
    const last = whole > 0 ? rows : Math.min(rows, own + to - row);
    yield { first, end: first + (whole || 1), low: own * width, high: last * width };
    row += whole > 0 ? whole * rows : last - own;
  }
}

/** Yields the ranges of rows in groups. The points go through memory once for each group. */
export function* rangeGroups(
  digits: Pick<DigitShape, 'windowBits' | 'count'>,
  from: number,
  to: number,
): Generator<readonly BucketRange[]> {
  const most = blocksOf(digits.count) > 1 ? MOST_BUCKETS : 0;
  let group: BucketRange[] = [];
  let buckets = 0;
  for (const range of rangesOf(digits, from, to)) {
    if (group.length > 0 && buckets + bucketsIn(range) > most) {
      yield group;
      [group, buckets] = [[], 0];
    }
    group.push(range);
    buckets += bucketsIn(range);
  }
  yield group;
}

/** Returns the most buckets of a group. */
export const mostBuckets = ({ windowBits, windows, count }: Omit<DigitShape, 'words'>): number => {
  const window = 2 ** (windowBits - 1);
  const most = blocksOf(count) > 1 ? MOST_BUCKETS : 0;
  return window * Math.min(windows, Math.max(windowsTogether(count), Math.floor(most / window)));
};

/** Returns the address of the first bucket's sum of each range, one behind the other. */
export const placesOf = (group: readonly BucketRange[], first: PointAt, pointBytes: number): readonly PointAt[] => {
  let next = first;
  return group.map((range) => {
    const at = next;
    next += bucketsIn(range) * pointBytes;
    return at;
  });
};
