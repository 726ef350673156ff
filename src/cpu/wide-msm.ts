/**
 * Sums of multiples over a range of windows: buckets and signed digits as on the GPU (Pippenger 1976), all additions in lists whose parts share an
 * inversion. What decides what is added is here, in lists of addresses; what adds is WebAssembly (wide-kernel.ts).
 */

import { windowCount } from '../plan/window-count.js';
import { cpuWindowBits } from './pippenger.js';
import type { PointAt, WideAdder } from './wide-adder.js';

/** A point that is known to be infinity. */
const INFINITY: PointAt = 0;

/** Work that may be interrupted wherever it yields, some 0.2 ms apart. */
export type Steps<Result> = Generator<void, Result, void>;

/** Digits of scalars. */
export interface Digits {
  readonly windowBits: number;
  readonly windows: number;
  /** Scalars plus `offset`, little-endian, `words` each. */
  readonly shifted: Uint32Array;
  readonly words: number;
  readonly count: number;
}

/**
 * Signed digits d_j of c bits, |d_j| ≤ 2^(c−1): those of the scalar plus Σ 2^(c−1)·2^(c·j), less 2^(c−1) each, so that no digit waits for a carry.
 *
 * @param scalars little-endian, `words` each, below 2^bits
 */
export const digitsOfScalars = (scalars: Uint32Array, words: number, bits: number, windowBits: number): Digits => {
  const windows = windowCount(bits, windowBits);
  const count = scalars.length / words;
  let offset = 0n;
  for (let j = 0; j < windows; j++) offset |= 1n << BigInt(windowBits * j + windowBits - 1);
  const wider = Math.ceil((windows * windowBits + 1) / 32) + 1;
  const added = Array.from({ length: wider }, (_, w) => Number((offset >> BigInt(32 * w)) & 0xffffffffn));
  const shifted = new Uint32Array(count * wider);
  for (let i = 0; i < count; i++) {
    let carry = 0;
    for (let w = 0; w < wider; w++) {
      const sum = (w < words ? (scalars[i * words + w] as number) : 0) + (added[w] as number) + carry;
      shifted[i * wider + w] = sum;
      carry = sum > 0xffffffff ? 1 : 0;
    }
  }
  return { windowBits, windows, shifted, words: wider, count };
};

/** Digit j of every scalar; the top one takes what is left. */
const digitsAt = ({ windowBits, windows, shifted, words, count }: Digits, j: number): Int32Array => {
  const bit = j * windowBits;
  const shift = bit & 31;
  const mask = 2 ** (j === windows - 1 ? windowBits + 1 : windowBits) - 1;
  const half = 2 ** (windowBits - 1);
  const digits = new Int32Array(count);
  for (let i = 0, at = bit >>> 5; i < count; i++, at += words) {
    const low = (shifted[at] as number) >>> shift;
    // in two steps, as a shift by 32 is one by 0
    const high = ((shifted[at + 1] as number) << (31 - shift)) << 1;
    digits[i] = ((low | high) & mask) - half;
  }
  return digits;
};

/** Windows from one up to another. */
export interface Range {
  readonly first: number;
  readonly end: number;
}

/** What `bucketSums` did. */
export interface Sums {
  /** Of windows, one after the other, the sum of each bucket; 0 where it is infinity for sure. */
  readonly buckets: Uint32Array;
  /** Digits that were not zero. */
  readonly entries: number;
}

/** Adds up what is in each bucket: pairs of it, then pairs of these. */
export function* bucketSums(adder: WideAdder, digits: Digits, points: Uint32Array, { first, end }: Range): Steps<Sums> {
  const perWindow = 2 ** (digits.windowBits - 1);
  const count = (end - first) * perWindow;
  // by counting: where the entries of a bucket begin, which is where they end once they are in place
  const starts = new Uint32Array(count + 1);
  const all: Int32Array[] = [];
  for (let j = first; j < end; j++) {
    const own = digitsAt(digits, j);
    all.push(own);
    const base = (j - first) * perWindow;
    for (const digit of own) if (digit !== 0) (starts[base + Math.abs(digit)] as number)++;
  }
  for (let b = 1; b <= count; b++) (starts[b] as number) += starts[b - 1] as number;
  const entries = starts[count] as number;
  const ends = starts.slice(0, count);
  const row = new Uint32Array(entries);
  for (const [k, own] of all.entries()) {
    const base = k * perWindow - 1;
    for (let i = 0; i < own.length; i++) {
      const digit = own[i] as number;
      if (digit > 0) row[(ends[base + digit] as number)++] = points[i] as number;
      else if (digit < 0) row[(ends[base - digit] as number)++] = (points[i] as number) ^ 1;
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
const plus = (adder: WideAdder, P: PointAt, Q: PointAt): PointAt => {
  if (P === INFINITY) return Q;
  if (Q === INFINITY) return P;
  const to = adder.take(1);
  adder.add(to, P, Q);
  return to;
};

/** Sums of rows of equal length, side by side. */
function* rowSums(adder: WideAdder, rows: Uint32Array, length: number): Steps<Uint32Array> {
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

/**
 * Σ (k + 1)·P_k of each row. Rows are cut into segments, whose running sums go side by side: from its end every point is in the running sum as often as
 * it counts in its segment; and as often as the segment has others below it times its length, it counts once more, which is the same problem over segments.
 *
 * @param length points of a row
 */
export function* weightedSums(adder: WideAdder, rows: Uint32Array, length: number): Steps<Uint32Array> {
  const count = rows.length / length;
  const segment = length <= SEGMENT ? length : length <= 4 * SEGMENT ? 8 : SEGMENT;
  const segments = Math.ceil(length / segment);
  const lanes = count * segments;
  let running = new Uint32Array(lanes);
  let sums = new Uint32Array(lanes);
  // one step more, as the sum takes in what was running in the step before
  for (let t = segment - 1; t >= -1; t--) {
    const [nextRunning, nextSums] = [running.slice(), sums.slice()];
    for (let lane = 0; lane < lanes; lane++) {
      const row = Math.floor(lane / segments);
      const k = (lane % segments) * segment + t;
      const now = running[lane] as number;
      if (t >= 0 && k < length) nextRunning[lane] = plus(adder, now, rows[row * length + k] as number);
      nextSums[lane] = plus(adder, sums[lane] as number, now);
    }
    adder.flush();
    yield;
    [running, sums] = [nextRunning, nextSums];
  }
  const whole = yield* rowSums(adder, sums, segments);
  if (segments === 1) return whole;
  const others = new Uint32Array(count * (segments - 1));
  for (let row = 0; row < count; row++) {
    others.set(running.subarray(row * segments + 1, (row + 1) * segments), row * (segments - 1));
  }
  let above = yield* weightedSums(adder, others, segments - 1);
  above = yield* doubled(adder, above, Math.log2(segment));
  const all = whole.map((sum, row) => plus(adder, sum, above[row] as number));
  adder.flush();
  yield;
  return all;
}

/** Each point `times` times doubled. */
function* doubled(adder: WideAdder, points: Uint32Array, times: number): Steps<Uint32Array> {
  let now = points;
  for (let i = 0; i < times; i++) {
    now = now.map((P) => plus(adder, P, P));
    adder.flush();
    yield;
  }
  return now;
}

/** Σ 2^(c·j)·P_j. */
export function* joinWindows(adder: WideAdder, sums: Uint32Array, windowBits: number): Steps<PointAt> {
  let total: Uint32Array = Uint32Array.of(INFINITY);
  for (let j = sums.length - 1; j >= 0; j--) {
    total = yield* doubled(adder, total, windowBits);
    total = Uint32Array.of(plus(adder, total[0] as number, sums[j] as number));
    adder.flush();
  }
  return total[0] as number;
}

/** What `multiplyWide` did. */
export interface WideResult {
  /** Coefficients of the sum's x and y; zeros for infinity. */
  readonly sum: readonly bigint[];
  readonly windowBits: number;
  readonly windows: number;
  /** Digits that were not zero. */
  readonly entries: number;
}

/** Points that are brought into memory together: more would take more of it, and fewer more additions of buckets. */
const MOST_POINTS = 2 ** 16;

/** Digits of as many windows go into buckets together as are no more than this: lists are long then, and what is added is still in the cache. */
const MOST_DIGITS = 2 ** 14;

/**
 * Σ s_i·P_i.
 *
 * @param pointWords of points from one up to another
 * @param scale what their coordinates were multiplied by
 * @param scalars below 2^bits, little-endian, `words` each
 */
export function* multiplyWide(
  adder: WideAdder,
  pointWords: (from: number, to: number) => Uint32Array,
  scale: bigint,
  { scalars, words, bits }: { readonly scalars: Uint32Array; readonly words: number; readonly bits: number },
): Steps<WideResult> {
  const n = scalars.length / words;
  const windowBits = cpuWindowBits(Math.min(n, MOST_POINTS), bits);
  const windows = windowCount(bits, windowBits);
  const perWindow = 2 ** (windowBits - 1);
  adder.release();
  const kept = adder.take(windows);
  const sums = new Uint32Array(windows).fill(INFINITY);
  let entries = 0;
  for (let from = 0; from < n; from += MOST_POINTS) {
    const to = Math.min(n, from + MOST_POINTS);
    const room = adder.mark;
    const start = adder.enter(pointWords(from, to), scale);
    const points = Uint32Array.from({ length: to - from }, (_, i) => start + i * adder.pointBytes);
    const digits = digitsOfScalars(scalars.subarray(from * words, to * words), words, bits, windowBits);
    const together = Math.max(1, Math.floor(MOST_DIGITS / points.length));
    for (let first = 0; first < windows; first += together) {
      const end = Math.min(windows, first + together);
      const mark = adder.mark;
      const filled = yield* bucketSums(adder, digits, points, { first, end });
      entries += filled.entries;
      const own = yield* weightedSums(adder, filled.buckets, perWindow);
      for (const [k, sum] of own.entries()) {
        if (sum === INFINITY) continue;
        const to = kept + (first + k) * adder.pointBytes;
        adder.add(to, sums[first + k] as number, sum);
        sums[first + k] = to;
      }
      adder.flush();
      adder.release(mark);
    }
    adder.release(room);
  }
  const sum = yield* joinWindows(adder, sums, windowBits);
  return { sum: adder.read(sum), windowBits, windows, entries };
}
