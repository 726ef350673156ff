/**
 * Buckets of windows and what they come to (Pippenger 1976), all additions in lists whose parts share an inversion. What decides what is added is here,
 * in lists of addresses; what adds is WebAssembly (wide-kernel.ts).
 */

import type { PointAdder, PointAt } from '../../wasm/arithmetic/point-adder.js';
import { type Digits, digitsAt } from './digits.js';

/** A point that is known to be infinity. */
export const INFINITY: PointAt = 0;

/** Work that may be interrupted wherever it yields, some 0.2 ms apart. */
export type Steps<Result> = Generator<void, Result, void>;

/** Windows from one up to another, and of each the buckets from one up to another, counted from 0. */
export interface Range {
  readonly first: number;
  readonly end: number;
  readonly low: number;
  readonly high: number;
}

/** What `bucketSums` did. */
export interface Sums {
  /** Of windows, one after the other, the sum of each bucket; 0 where it is infinity for sure. */
  readonly buckets: Uint32Array;
  /** Digits that were not zero. */
  readonly entries: number;
}

/** Adds up what is in each bucket: pairs of it, then pairs of these. */
export function* bucketSums(
  adder: PointAdder,
  digits: Digits,
  points: Uint32Array,
  { first, end, low, high }: Range,
): Steps<Sums> {
  const width = high - low;
  const count = (end - first) * width;
  // by counting: where the entries of a bucket begin, which is where they end once they are in place
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
  const entries = starts[count] as number;
  const ends = starts.slice(0, count);
  const row = new Uint32Array(entries);
  for (const [k, own] of all.entries()) {
    const base = k * width;
    for (let i = 0; i < own.length; i++) {
      const digit = own[i] as number;
      const bucket = Math.abs(digit) - 1 - low;
      if (bucket < 0 || bucket >= width) continue;
      row[(ends[base + bucket] as number)++] = (points[i] as number) ^ (digit < 0 ? 1 : 0);
    }
  }
  yield;
  const mine = adder.mark;
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
        // a sum takes the room of one that it is of, if that is none of the points
        const to = P >= mine ? P & ~1 : Q >= mine ? Q & ~1 : adder.take(1);
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
  return { buckets, entries };
}

/** P + Q of what may be 0, in a list. */
export const plus = (adder: PointAdder, P: PointAt, Q: PointAt): PointAt => {
  if (P === INFINITY) return Q;
  if (Q === INFINITY) return P;
  const to = adder.take(1);
  adder.add(to, P, Q);
  return to;
};

/** Sums of rows of equal length, side by side. */
function* rowSums(adder: PointAdder, rows: Uint32Array, length: number): Steps<Uint32Array> {
  let [now, width] = [rows, length];
  while (width > 1) {
    const half = Math.ceil(width / 2);
    const count = now.length / width;
    const next = new Uint32Array(count * half);
    for (let row = 0; row < count; row++) {
      for (let k = 0; k < half; k++) {
        const at = row * width + 2 * k;
        next[row * half + k] =
          2 * k + 1 < width ? plus(adder, now[at] as number, now[at + 1] as number) : (now[at] as number);
      }
    }
    adder.flush();
    yield;
    [now, width] = [next, half];
  }
  return now;
}

/** Buckets that one running sum takes in, where there are many: more of them are fewer additions, and fewer run side by side. */
const SEGMENT = 16;

/** Of rows cut into segments: of each segment the sum of its points, and their sum in which the k-th of the segment counts k + 1 times. */
interface Segments {
  readonly length: number;
  /** Of a row. */
  readonly count: number;
  readonly plain: Uint32Array;
  readonly weighted: Uint32Array;
}

/** Running sums go side by side: from the end of its segment every point is in the running sum as often as it counts there. */
function* segmentSums(adder: PointAdder, rows: Uint32Array, width: number): Steps<Segments> {
  const length = width <= SEGMENT ? width : width <= 4 * SEGMENT ? 8 : SEGMENT;
  const count = Math.ceil(width / length);
  const lanes = (rows.length / width) * count;
  let running = new Uint32Array(lanes);
  let sums = new Uint32Array(lanes);
  // one step more, as the sum takes in what was running in the step before
  for (let t = length - 1; t >= -1; t--) {
    const [nextRunning, nextSums] = [running.slice(), sums.slice()];
    for (let lane = 0; lane < lanes; lane++) {
      const row = Math.floor(lane / count);
      const k = (lane % count) * length + t;
      const now = running[lane] as number;
      if (t >= 0 && k < width) nextRunning[lane] = plus(adder, now, rows[row * width + k] as number);
      nextSums[lane] = plus(adder, sums[lane] as number, now);
    }
    adder.flush();
    yield;
    [running, sums] = [nextRunning, nextSums];
  }
  return { length, count, plain: running, weighted: sums };
}

/**
 * Σ (k + 1)·P_k of each row. A point counts as often as it does in its segment, and as often as there are points in the segments below, which is
 * the same problem over segments.
 */
function* joinSegments(adder: PointAdder, { length, count, plain, weighted }: Segments): Steps<Uint32Array> {
  const whole = yield* rowSums(adder, weighted, count);
  if (count === 1) return whole;
  const rows = plain.length / count;
  const others = new Uint32Array(rows * (count - 1));
  for (let row = 0; row < rows; row++) {
    others.set(plain.subarray(row * count + 1, (row + 1) * count), row * (count - 1));
  }
  let above = yield* joinSegments(adder, yield* segmentSums(adder, others, count - 1));
  above = yield* doubled(adder, above, Math.log2(length));
  const all = whole.map((sum, row) => plus(adder, sum, above[row] as number));
  adder.flush();
  yield;
  return all;
}

/** Σ (k + 1)·P_k of rows of `width` points; with `plain`, Σ P_k, too. */
export function* weightedSums(
  adder: PointAdder,
  rows: Uint32Array,
  width: number,
  withPlain: boolean,
): Steps<{ readonly weighted: Uint32Array; readonly plain: Uint32Array | null }> {
  const segments = yield* segmentSums(adder, rows, width);
  const plain = withPlain ? yield* rowSums(adder, segments.plain, segments.count) : null;
  return { plain, weighted: yield* joinSegments(adder, segments) };
}

/** Each point `times` times doubled. */
function* doubled(adder: PointAdder, points: Uint32Array, times: number): Steps<Uint32Array> {
  let now = points;
  for (let i = 0; i < times; i++) {
    now = now.map((P) => plus(adder, P, P));
    adder.flush();
    yield;
  }
  return now;
}
