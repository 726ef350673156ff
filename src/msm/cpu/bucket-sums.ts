/**
 * Bucket accumulation of Pippenger's algorithm (Pippenger 1976). Additions go into lists, each of
 * which shares one inversion. WebAssembly sorts the points by bucket, pairs them (wasm/lists/) and
 * adds (wasm/arithmetic/point-kernel.ts, wasm/floats/float-kernel.ts).
 */

import type { Steps } from '../../scheduling/steps.js';
import { PAIR_STATE, PAIR_STATE_BYTES } from '../../wasm/lists/add-pairs.js';
import type { PointAdder, PointAt } from '../../wasm/points/point-adder.js';
import { type DigitsInMemory, windowArguments } from './digits.js';

/** Address of infinity. */
export const INFINITY: PointAt = 0;

/** The windows `first` to `end`, and of each the buckets `low` to `high`, counted from 0. */
export interface BucketRange {
  readonly first: number;
  readonly end: number;
  readonly low: number;
  readonly high: number;
}

/** Returns the number of buckets in a range. */
export const bucketsIn = ({ first, end, low, high }: BucketRange): number => (end - first) * (high - low);

/** Consecutive points and the digits of their scalars, in the memory of an adder. */
export interface EnteredPoints {
  /** Address of the first point. */
  readonly points: PointAt;
  readonly digits: DigitsInMemory;
}

/** Points sorted by bucket: addresses of the sorted points, and of where buckets begin. */
interface Sorted {
  readonly row: number;
  readonly starts: number;
  /** Number of sorted points. */
  readonly entries: number;
}

/**
 * Sorts the points of a range by bucket, in the memory of an adder; a step for each window.
 *
 * @param sums address of sums of the buckets, which become the first of their buckets; null if
 *   there are none yet
 */
function* sortIntoBuckets(
  adder: PointAdder,
  { points, digits }: EnteredPoints,
  range: BucketRange,
  sums: PointAt | null,
): Steps<Sorted> {
  const { first, end, low, high } = range;
  const width = high - low;
  const count = bucketsIn(range);
  const starts = adder.takeWords(count + 2);
  adder.words(starts, count + 2).fill(sums === null ? 0 : 1);
  adder.words(starts, 2).fill(0);
  const { buckets, pointBytes } = adder;
  const windows = Array.from({ length: end - first }, (_, k) => ({
    window: windowArguments(digits, first + k, low, width),
    at: starts + 4 * k * width,
  }));
  for (const { window, at } of windows) {
    buckets.countDigits(...window, at);
    yield;
  }
  const entries = buckets.sumCounts(starts, count);
  const row = adder.takeWords(entries);
  if (sums !== null) {
    const [all, beginnings] = [adder.words(row, entries), adder.words(starts + 4, count)];
    for (let b = 0; b < count; b++) all[(beginnings[b] as number)++] = sums + b * pointBytes;
  }
  for (const { window, at } of windows) {
    buckets.sortDigits(...window, at, row, points, pointBytes);
    yield;
  }
  return { row, starts, entries };
}

/**
 * Adds points to the sums of their buckets: pairs of points, then pairs of these sums, until one is
 * left.
 *
 * @param sums address of the sum of each bucket
 * @param isFirst whether the sums are new: their memory has any content then
 * @returns the number of digits that were not zero
 */
export function* addToBuckets(
  adder: PointAdder,
  entered: EnteredPoints,
  range: BucketRange,
  sums: PointAt,
  isFirst: boolean,
): Steps<number> {
  const { row, starts, entries } = yield* sortIntoBuckets(adder, entered, range, isFirst ? null : sums);
  const { pointBytes, list } = adder;
  const count = bucketsIn(range);
  const state = adder.takeWords(PAIR_STATE_BYTES / 4);
  const sizes = adder.takeWords(count);
  const beginnings = adder.words(starts, count + 1);
  const ownSizes = adder.words(sizes, count);
  for (let b = 0; b < count; b++) ownSizes[b] = (beginnings[b + 1] as number) - (beginnings[b] as number);
  const next = adder.mark;
  const inputs = { inputs: entered.points, inputBytes: entered.digits.count * pointBytes };
  const values = { row, starts, sizes, count, bucket: 0, pair: 0, open: 0, ...inputs, sums, next, list };
  for (const [name, at] of Object.entries(PAIR_STATE))
    adder.words(state + at, 1)[0] = values[name as keyof typeof PAIR_STATE];
  // a sum of two input points is new
  adder.take(entries >>> 1);
  while (adder.buckets.addPairs(state) !== 0) yield;
  if (!isFirst) return entries - count;
  const [all, first, left] = [adder.words(row, entries), adder.words(starts, count), adder.words(sizes, count)];
  for (let b = 0; b < count; b++) {
    const to = sums + b * pointBytes;
    if (left[b] === 0) adder.words(to, pointBytes / 4).fill(0);
    else if (all[first[b] as number] !== to) adder.add(to, INFINITY, all[first[b] as number] as number);
  }
  adder.flush();
  return entries;
}

/** Returns the addresses of sums of buckets; 0 for those of buckets without points. */
export const filledSums = (adder: PointAdder, sums: PointAt, count: number): Uint32Array => {
  const { pointBytes } = adder;
  const words = pointBytes / 4;
  const all = adder.words(sums, count * words);
  const filled = new Uint32Array(count);
  for (let b = 0; b < count; b++) {
    const end = (b + 1) * words;
    let word = b * words;
    while (word < end && all[word] === 0) word++;
    filled[b] = word < end ? sums + b * pointBytes : INFINITY;
  }
  return filled;
};

/** Queues P + Q, each of which may be infinity. @returns the address of the sum */
export const plus = (adder: PointAdder, P: PointAt, Q: PointAt): PointAt => {
  if (P === INFINITY) return Q;
  if (Q === INFINITY) return P;
  const to = adder.take(1);
  adder.add(to, P, Q);
  return to;
};
