/**
 * Bucket accumulation of Pippenger's algorithm (Pippenger 1976). Additions go into lists, each of
 * which shares one inversion. This file decides what is added, as addresses; the WebAssembly of
 * wasm/arithmetic/point-kernel.ts adds.
 */
import type { PointAdder, PointAt } from '../../wasm/arithmetic/point-adder.js';
import { type Digits, digitsAt } from './digits.js';
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

/** Points sorted by bucket. */
interface SortedPoints {
  /** Addresses of signed points. Sums replace them from the beginning of each bucket. */
  readonly row: Uint32Array;
  /** Index of the first point of each bucket; one more for the end of the last bucket. */
  readonly starts: Uint32Array;
}

/** Sorts the points of a range by bucket, with a counting sort. */
const sortIntoBuckets = (digits: Digits, points: Uint32Array, { first, end, low, high }: BucketRange): SortedPoints => {
  const width = high - low;
  const count = (end - first) * width;
  const starts = new Uint32Array(count + 1);
  const all: Int32Array[] = [];
  for (let j = first; j < end; j++) {
    const own = digitsAt(digits, j);
    all.push(own);
    const base = (j - first) * width;
    for (const digit of own) {
      const bucket = Math.abs(digit) - 1 - low;
      if (bucket >= 0 && bucket < width) (starts[base + bucket + 1] as number)++;
    }
  }
  for (let b = 1; b <= count; b++) (starts[b] as number) += starts[b - 1] as number;
  const next = starts.slice(0, count);
  const row = new Uint32Array(starts[count] as number);
  for (const [k, own] of all.entries()) {
    const base = k * width;
    for (let i = 0; i < own.length; i++) {
      const digit = own[i] as number;
      const bucket = Math.abs(digit) - 1 - low;
      if (bucket < 0 || bucket >= width) continue;
      row[(next[base + bucket] as number)++] = (points[i] as number) ^ (digit < 0 ? 1 : 0);
    }
  }
  return { row, starts };
};

/** Adds up each bucket: pairs of points, then pairs of these sums, until one is left. */
export function* bucketSums(
  adder: PointAdder,
  digits: Digits,
  points: Uint32Array,
  range: BucketRange,
): Steps<BucketSums> {
  const { row, starts } = sortIntoBuckets(digits, points, range);
  const count = starts.length - 1;
  yield;
  const mark = adder.mark;
  const sizes = new Uint32Array(count);
  let open: number[] = [];
  for (let b = 0; b < count; b++) {
    sizes[b] = (starts[b + 1] as number) - (starts[b] as number);
    if ((sizes[b] as number) > 1) open.push(b);
  }
  while (open.length > 0) {
    const still: number[] = [];
    for (const b of open) {
      const start = starts[b] as number;
      const size = sizes[b] as number;
      const pairs = size >>> 1;
      for (let k = 0; k < pairs; k++) {
        const [P, Q] = [row[start + 2 * k] as number, row[start + 2 * k + 1] as number];
        // a sum overwrites one of its operands, unless both are input points
        const to = P >= mark ? P & ~1 : Q >= mark ? Q & ~1 : adder.take(1);
        row[start + k] = to;
        if (adder.add(to, P, Q)) {
          adder.flush();
          yield;
        }
      }
      if (size & 1) row[start + pairs] = row[start + size - 1] as number;
      sizes[b] = size - pairs;
      if (size - pairs > 1) still.push(b);
    }
    adder.flush();
    open = still;
  }
  const buckets = new Uint32Array(count);
  for (let b = 0; b < count; b++)
    buckets[b] = (sizes[b] as number) === 0 ? INFINITY : (row[starts[b] as number] as number);
  return { buckets, entries: row.length };
}

/** Queues P + Q, each of which may be infinity. @returns the address of the sum */
export const plus = (adder: PointAdder, P: PointAt, Q: PointAt): PointAt => {
  if (P === INFINITY) return Q;
  if (Q === INFINITY) return P;
  const to = adder.take(1);
  adder.add(to, P, Q);
  return to;
};
