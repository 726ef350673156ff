/**
 * Bucket reduction of Pippenger's algorithm: Σ (k + 1)·P_k of rows of points, by running sums over
 * short segments that are computed side by side.
 */

import type { Steps } from '../../scheduling/steps.js';
import type { PointAdder } from '../../wasm/points/point-adder.js';
import { plus } from './bucket-sums.js';

/** Adds up each row; all rows have the same length. */
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

/**
 * Points per segment of long rows: longer segments need fewer additions, with less side by side.
 */
const SEGMENT = 16;

/** Rows cut into segments. */
interface Segments {
  /** Points per segment. */
  readonly length: number;
  /** Segments per row. */
  readonly count: number;
  /** Σ P_k of each segment. */
  readonly plain: Uint32Array;
  /** Σ (k + 1)·P_k of each segment, with k counted within it. */
  readonly weighted: Uint32Array;
}

/**
 * Computes running sums from the end of each segment, of all segments side by side: a point is in
 * the running sum as often as it counts.
 */
function* segmentSums(adder: PointAdder, rows: Uint32Array, width: number): Steps<Segments> {
  const length = width <= SEGMENT ? width : width <= 4 * SEGMENT ? 8 : SEGMENT;
  const count = Math.ceil(width / length);
  const lanes = (rows.length / width) * count;
  let running = new Uint32Array(lanes);
  let sums = new Uint32Array(lanes);
  // one step more than points, since a step adds the running sum of the step before
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
 * Returns Σ (k + 1)·P_k of each row. A point counts as often as within its segment, plus `length`
 * times the number of segments before: the second part is the same problem over segments.
 */
function* joinSegments(adder: PointAdder, { length, count, plain, weighted }: Segments): Steps<Uint32Array> {
  const within = yield* rowSums(adder, weighted, count);
  if (count === 1) return within;
  const rows = plain.length / count;
  const others = new Uint32Array(rows * (count - 1));
  for (let row = 0; row < rows; row++) {
    others.set(plain.subarray(row * count + 1, (row + 1) * count), row * (count - 1));
  }
  let above = yield* joinSegments(adder, yield* segmentSums(adder, others, count - 1));
  above = yield* doubled(adder, above, Math.log2(length));
  const all = within.map((sum, row) => plus(adder, sum, above[row] as number));
  adder.flush();
  yield;
  return all;
}

/**
 * Returns Σ (k + 1)·P_k of each row.
 *
 * @param width points per row
 * @param withPlain whether Σ P_k is wanted as well
 */
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

/** Doubles each point `times` times. */
function* doubled(adder: PointAdder, points: Uint32Array, times: number): Steps<Uint32Array> {
  let now = points;
  for (let i = 0; i < times; i++) {
    now = now.map((P) => plus(adder, P, P));
    adder.flush();
    yield;
  }
  return now;
}
