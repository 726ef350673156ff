/**
 * Bucket accumulation of Pippenger's algorithm (Pippenger 1976). Additions go into lists, each of
 * which shares one inversion. WebAssembly sorts the points by bucket, pairs them (wasm/lists/) and
 * adds (wasm/arithmetic/point-kernel.ts, wasm/floats/float-kernel.ts).
 */

import { PAIR_STATE, PAIR_STATE_BYTES } from '../../wasm/lists/add-pairs.js';
import type { PointAdder, PointAt } from '../../wasm/points/point-adder.js';
import { type DigitsInMemory, windowArguments } from './digits.js';
import type { Steps } from './steps.js';

/** Address of infinity. */
export const INFINITY: PointAt = 0;

/** The windows `first` to `end`, and of each the buckets `low` to `high`, counted from 0. */
export interface BucketRange {
  readonly first: number;
  readonly end: number;
  readonly low: number;
  readonly high: number;
}

export interface BucketSums {
  /** Sum of each bucket, window after window; 0 if it is known to be infinity. */
  readonly buckets: Uint32Array;
  /** Number of digits that were not zero. */
  readonly entries: number;
}

/** Sorts the points of a range by bucket, in the memory of an adder; a step for each window. */
function* sortIntoBuckets(
  adder: PointAdder,
  digits: DigitsInMemory,
  points: PointAt,
  { first, end, low, high }: BucketRange,
): Steps<{ readonly row: number; readonly starts: number; readonly entries: number }> {
  const width = high - low;
  const count = (end - first) * width;
  const starts = adder.takeWords(count + 2);
  adder.words(starts, count + 2).fill(0);
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
  for (const { window, at } of windows) {
    buckets.sortDigits(...window, at, row, points, pointBytes);
    yield;
  }
  return { row, starts, entries };
}

/**
 * Adds up each bucket: pairs of points, then pairs of these sums, until one is left.
 *
 * @param points address of consecutive points
 */
export function* bucketSums(
  adder: PointAdder,
  digits: DigitsInMemory,
  points: PointAt,
  range: BucketRange,
): Steps<BucketSums> {
  const { row, starts, entries } = yield* sortIntoBuckets(adder, digits, points, range);
  const count = (range.end - range.first) * (range.high - range.low);
  const state = adder.takeWords(PAIR_STATE_BYTES / 4);
  const sizes = adder.takeWords(count);
  const beginnings = adder.words(starts, count + 1);
  const ownSizes = adder.words(sizes, count);
  for (let b = 0; b < count; b++) ownSizes[b] = (beginnings[b + 1] as number) - (beginnings[b] as number);
  const mark = adder.mark;
  const values = { row, starts, sizes, count, bucket: 0, pair: 0, open: 0, mark, next: mark, list: adder.list };
  for (const [name, at] of Object.entries(PAIR_STATE))
    adder.words(state + at, 1)[0] = values[name as keyof typeof PAIR_STATE];
  // a sum of two input points is new
  adder.take(entries >>> 1);
  while (adder.buckets.addPairs(state) !== 0) yield;
  adder.release(adder.words(state + PAIR_STATE.next, 1)[0] as number);
  const sums = new Uint32Array(count);
  const [first, all] = [adder.words(starts, count), adder.words(row, entries)];
  const left = adder.words(sizes, count);
  for (let b = 0; b < count; b++) sums[b] = left[b] === 0 ? INFINITY : (all[first[b] as number] as number);
  return { buckets: sums, entries };
}

/** Queues P + Q, each of which may be infinity. @returns the address of the sum */
export const plus = (adder: PointAdder, P: PointAt, Q: PointAt): PointAt => {
  if (P === INFINITY) return Q;
  if (Q === INFINITY) return P;
  const to = adder.take(1);
  adder.add(to, P, Q);
  return to;
};
