/**
 * Many sums of multiples of points, each of few terms: points that are all multiplied by one scalar,
 * or the rows of a sparse matrix times points. Doublings and additions of many sums are lists that
 * share inversions (Montgomery 1987, section 10.3.1), without buckets.
 *
 * Terms with the same multiplier are added up first, and share one multiplication. A multiplier is
 * two halves (curves/halving.ts) of signed digits: 0 or odd and below 8 in size (Solinas 2000, "width-w
 * NAF"), with which a sum takes half as many doublings as its scalars have bits.
 */
import type { Steps } from '../../scheduling/time-slice.js';
import type { PointAdder, PointAt } from '../../wasm/points/point-adder.js';

/** Words of one half of a multiplier. */
const HALF_WORDS = 5;

/** Words of a multiplier: its signs, and both halves. */
const MULTIPLIER_WORDS = 1 + 2 * HALF_WORDS;

/** Sums of a group. */
export interface ManySums {
  /** x‖y of the point of each term, little-endian. */
  readonly points: Uint32Array;
  /** Factor that the coordinates of points were multiplied by. */
  readonly scale: bigint;
  /** First term of each sum, and behind them the number of terms. */
  readonly starts: Uint32Array;
  /** Index of the multiplier of each term. */
  readonly which: Uint32Array;
  /** Multipliers, modulo the order of the group. */
  readonly multipliers: readonly bigint[];
  /** Results are written with their coordinates times each of these factors. */
  readonly scales: readonly bigint[];
}

/** Sums as threads take them. Can be sent to a thread. */
export interface SumsTask extends Omit<ManySums, 'multipliers'> {
  readonly kind: 'sums';
  /** Root of unity of the endomorphism. */
  readonly beta: bigint;
  /** Multipliers, as `writeMultiplier` writes them. */
  readonly multipliers: Uint32Array;
  /** First sum of each chunk, and behind them the number of sums. */
  readonly cuts: readonly number[];
}

/** Sums of one thread. */
export interface PartialSums {
  readonly kind: 'sums';
  /** Numbers of the chunks. */
  readonly chunks: readonly number[];
  /** For each chunk and scale x‖y of its sums, little-endian; infinity is zeros. */
  readonly words: readonly (readonly Uint32Array[])[];
  /** Index of a term whose point is not on the curve; null if none was found. */
  readonly wrong: number | null;
}

/** Returns room for multipliers as words, each 0. */
export const roomForMultipliers = (count: number): Uint32Array<ArrayBuffer> =>
  new Uint32Array(count * MULTIPLIER_WORDS);

/** Writes a multiplier as words. @param halves both of its halves */
export const writeMultiplier = (words: Uint32Array, i: number, halves: readonly [bigint, bigint]): void => {
  const at = i * MULTIPLIER_WORDS;
  for (const [h, half] of halves.entries()) {
    if (half < 0n) words[at] = (words[at] as number) | (1 << h);
    let rest = half < 0n ? -half : half;
    for (let k = 0; k < HALF_WORDS; k++, rest >>= 32n) {
      words[at + 1 + h * HALF_WORDS + k] = Number(BigInt.asUintN(32, rest));
    }
    if (rest > 0n) throw new RangeError('a half of a multiplier is too long');
  }
};

/** Digits of one half, from the lowest. */
type Digits = Int8Array;

/** A multiplier as digits. */
interface Multiplier {
  /** 1 or −1 where the multiplier is that number, else 0. */
  readonly unit: number;
  readonly halves: readonly [Digits, Digits];
  /** Whether some digit is neither 0 nor ±1, so that it needs a table. */
  readonly hasTable: boolean;
}

/** Bits of a digit, with its sign. */
const WIDTH = 4;

/** Points of a table: P, 3P, 5P and 7P. */
const TABLE = 2 ** (WIDTH - 2);

/** Halves of up to so many bits have digits 0 and ±1: a table takes longer than it saves. */
const SHORT_BITS = 24;

/** Returns signed digits of `width` bits of a number in words. */
const recode = (words: Uint32Array, bits: number, width: number, sign: number): Digits => {
  const digits = new Int8Array(bits + 1);
  const bit = (i: number): number => (i < bits ? ((words[i >>> 5] as number) >>> (i & 31)) & 1 : 0);
  let carry = 0;
  for (let i = 0; i <= bits; ) {
    const low = bit(i) + carry;
    if ((low & 1) === 0) {
      carry = low >> 1;
      i++;
      continue;
    }
    let digit = low;
    for (let k = 1; k < width; k++) digit += bit(i + k) << k;
    carry = digit >= 1 << (width - 1) ? 1 : 0;
    digits[i] = sign * (digit - (carry << width));
    i += width;
  }
  return digits;
};

/** Returns the number of bits of a number in words. */
const bitsOf = (words: Uint32Array): number => {
  for (let i = words.length - 1; i >= 0; i--) {
    if (words[i] !== 0) return 32 * i + 32 - Math.clz32(words[i] as number);
  }
  return 0;
};

/** Reads a multiplier. */
const multiplierAt = (words: Uint32Array, index: number): Multiplier => {
  const at = index * MULTIPLIER_WORDS;
  const signs = words[at] as number;
  const halves = [0, 1].map((h) => {
    const from = at + 1 + h * HALF_WORDS;
    return words.subarray(from, from + HALF_WORDS);
  }) as [Uint32Array, Uint32Array];
  const bits = halves.map(bitsOf) as [number, number];
  const width = Math.max(...bits) <= SHORT_BITS ? 2 : WIDTH;
  const digits = halves.map((half, h) => recode(half, bits[h] as number, width, signs & (1 << h) ? -1 : 1));
  const isUnit = bits[0] === 1 && bits[1] === 0;
  return { unit: isUnit ? (signs & 1 ? -1 : 1) : 0, halves: digits as [Digits, Digits], hasTable: width > 2 };
};

/** Multiplied sums of terms that one accumulator adds up; they share its doublings. */
const MOST_GROUPS = 8;

/** Sums that are computed side by side: enough for full lists. */
const BLOCK = 512;

/** Terms of sums that are computed side by side: accumulators are fewer, and fill their lists with more terms. */
export const BLOCK_TERMS = 2048;

/** Terms of one sum that have the same multiplier. */
interface Group {
  readonly multiplier: Multiplier;
  /** Number of the accumulator. */
  readonly lane: number;
  /** Addresses of its points; later of their sum alone. */
  row: PointAt[];
}

/** Points that lanes add at each bit, from the lowest. */
interface Hits {
  /** Index behind the last hit of each bit, and behind them the number of hits. */
  readonly ends: Uint32Array;
  readonly lanes: Uint32Array;
  /** Their addresses, odd for negatives. */
  readonly points: Uint32Array;
}

/** Computes one thread's share of a task. */
export class PointSums {
  readonly #adder: PointAdder;
  readonly #task: SumsTask;
  readonly #pointWords: number;
  readonly #known = new Map<number, Multiplier>();
  readonly #chunks: number[] = [];
  readonly #words: Uint32Array[][] = [];
  #wrong: number | null = null;
  #terms = 0;

  constructor(adder: PointAdder, task: SumsTask) {
    this.#adder = adder;
    this.#task = task;
    this.#pointWords = task.points.length / task.which.length;
  }

  /** Number of terms added up. */
  get terms(): number {
    return this.#terms;
  }

  /** Computes the sums of a chunk. */
  *addChunk(chunk: number): Steps<void> {
    const { cuts, starts, scales } = this.#task;
    const end = cuts[chunk + 1] as number;
    const parts: Uint32Array[][] = [];
    for (let from = cuts[chunk] as number; from < end; ) {
      let to = from + 1;
      const first = starts[from] as number;
      while (to < end && to - from < BLOCK && (starts[to + 1] as number) - first <= BLOCK_TERMS) to++;
      parts.push(yield* this.#block(from, to));
      from = to;
    }
    this.#chunks.push(chunk);
    this.#words.push(scales.map((_, k) => joined(parts.map((part) => part[k] as Uint32Array))));
  }

  /** Returns the results of all chunks, and overwrites the digits of multipliers, which may be secret. */
  settle(): PartialSums {
    for (const { halves } of this.#known.values()) for (const digits of halves) digits.fill(0);
    this.#known.clear();
    return { kind: 'sums', chunks: this.#chunks, words: this.#words, wrong: this.#wrong };
  }

  #multiplier(index: number): Multiplier {
    const known = this.#known.get(index) ?? multiplierAt(this.#task.multipliers, index);
    this.#known.set(index, known);
    return known;
  }

  /** Computes the sums `from` to `to`. @returns their words, for each scale */
  *#block(from: number, to: number): Steps<Uint32Array[]> {
    const adder = this.#adder;
    const { points, scale, starts, scales } = this.#task;
    const [first, end] = [starts[from] as number, starts[to] as number];
    adder.release();
    const entered = adder.enter(points.subarray(first * this.#pointWords, end * this.#pointWords), scale);
    const right = adder.check(entered, end - first);
    if (right < end - first) this.#wrong ??= first + right;
    this.#terms += end - first;
    yield;
    const multiplier = this.#onlyMultiplier(from, to);
    if (multiplier !== null) {
      const products = yield* this.#multiplyAll(multiplier, entered, end - first);
      return scales.map((factor) => adder.leave(products, to - from, factor));
    }
    const { rows, groups, lanes } = this.#grouped(from, to, entered);
    yield* addRows(
      adder,
      groups.map(({ row }) => row),
    );
    const totals = yield* this.#multiply(groups, lanes.length);
    for (const [lane, sum] of lanes.entries()) {
      const total = totals[lane] as PointAt;
      if (total !== 0) (rows[sum] as PointAt[]).push(total);
    }
    yield* addRows(adder, rows);
    const sums = adder.take(to - from);
    // copies with signs: a sum with infinity
    for (const [i, row] of rows.entries()) adder.add(sums + i * adder.pointBytes, row[0] ?? 0, 0);
    adder.flush();
    return scales.map((factor) => adder.leave(sums, to - from, factor));
  }

  /** Returns the multiplier that all sums of one term have in common, if it is a long one; else null. */
  #onlyMultiplier(from: number, to: number): Multiplier | null {
    const { starts, which } = this.#task;
    const first = starts[from] as number;
    const index = which[first] as number;
    for (let sum = from; sum < to; sum++) {
      const term = first + sum - from;
      if (starts[sum] !== term || which[term] !== index) return null;
    }
    const multiplier = (starts[to] as number) - first === to - from ? this.#multiplier(index) : null;
    return multiplier?.hasTable ? multiplier : null;
  }

  /**
   * Multiplies points by one number: as all take the same doublings and additions, nothing is kept of
   * each but its sum, where `#multiply` notes the places of every digit.
   */
  *#multiplyAll({ halves }: Multiplier, points: PointAt, count: number): Steps<PointAt> {
    const adder = this.#adder;
    const { pointBytes } = adder;
    const tables = yield* this.#tables(Array.from({ length: count }, (_, i) => points + i * pointBytes));
    const images = adder.images(tables, count * TABLE, this.#task.beta);
    const sums = adder.take(count);
    const end = sums + count * pointBytes;
    yield;
    let isBegun = false;
    for (let bit = Math.max(...halves.map(({ length }) => length)) - 1; bit >= 0; bit--) {
      if (isBegun) {
        for (let at = sums; at < end; at += pointBytes) adder.add(at, at, at);
        adder.flush();
      }
      for (const [half, table] of [tables, images].entries()) {
        const digit = (halves[half] as Digits)[bit] ?? 0;
        if (digit === 0) continue;
        let from = table + ((Math.abs(digit) - 1) / 2) * pointBytes + (digit < 0 ? 1 : 0);
        for (let at = sums; at < end; at += pointBytes, from += TABLE * pointBytes) {
          adder.add(at, isBegun ? at : 0, from);
        }
        adder.flush();
        isBegun = true;
      }
      yield;
    }
    return sums;
  }

  /** Sorts the terms of sums by their multipliers. */
  #grouped(
    from: number,
    to: number,
    entered: PointAt,
  ): {
    /** For each sum, points with multipliers 1 and −1. */
    readonly rows: PointAt[][];
    /** Terms with other multipliers. */
    readonly groups: readonly Group[];
    /** The sum of each accumulator. */
    readonly lanes: readonly number[];
  } {
    const { starts, which } = this.#task;
    const { pointBytes } = this.#adder;
    const first = starts[from] as number;
    const rows: PointAt[][] = [];
    const groups: Group[] = [];
    const lanes: number[] = [];
    for (let sum = from; sum < to; sum++) {
      const plain: PointAt[] = [];
      const own = new Map<number, PointAt[]>();
      for (let term = starts[sum] as number; term < (starts[sum + 1] as number); term++) {
        const at = entered + (term - first) * pointBytes;
        const index = which[term] as number;
        const { unit } = this.#multiplier(index);
        if (unit !== 0) plain.push(unit < 0 ? at + 1 : at);
        else {
          const row = own.get(index);
          if (row === undefined) own.set(index, [at]);
          else row.push(at);
        }
      }
      let count = 0;
      for (const [index, row] of own) {
        if (count++ % MOST_GROUPS === 0) lanes.push(sum - from);
        groups.push({ multiplier: this.#multiplier(index), lane: lanes.length - 1, row });
      }
      rows.push(plain);
    }
    return { rows, groups, lanes };
  }

  /** Multiplies and adds up groups. @returns the sum of each lane; 0 for infinity */
  *#multiply(groups: readonly Group[], lanes: number): Steps<PointAt[]> {
    const adder = this.#adder;
    const { pointBytes } = adder;
    const current = new Array<PointAt>(lanes).fill(0);
    if (groups.length === 0) return current;
    const slots = adder.take(lanes);
    const { ends, lanes: added, points } = yield* this.#hits(groups);
    const round = new Int32Array(lanes).fill(-1);
    let rounds = 0;
    for (let bit = ends.length - 2; bit >= 0; bit--) {
      for (let lane = 0; lane < lanes; lane++) {
        const sum = current[lane] as PointAt;
        if (sum === 0) continue;
        const to = slots + lane * pointBytes;
        adder.add(to, sum, sum);
        current[lane] = to;
      }
      adder.flush();
      const first = ends[bit - 1] ?? 0;
      for (let end = ends[bit] as number; end > first; ) {
        let later = first;
        rounds++;
        for (let i = first; i < end; i++) {
          const lane = added[i] as number;
          const at = points[i] as PointAt;
          // an accumulator takes one point of a list
          if (round[lane] === rounds) {
            added[later] = lane;
            points[later++] = at;
          } else {
            round[lane] = rounds;
            const sum = current[lane] as PointAt;
            if (sum === 0) current[lane] = at;
            else {
              const to = slots + lane * pointBytes;
              adder.add(to, sum, at);
              current[lane] = to;
            }
          }
        }
        adder.flush();
        end = later;
      }
      yield;
    }
    return current;
  }

  /** Returns the points that lanes add at each bit. */
  *#hits(groups: readonly Group[]): Steps<Hits> {
    const adder = this.#adder;
    const { pointBytes } = adder;
    const all: { readonly lane: number; readonly digits: Digits; readonly table: PointAt }[] = [];
    const put = ({ lane }: Group, digits: Digits, table: PointAt): void => void all.push({ lane, digits, table });
    const long = groups.filter(({ multiplier }) => multiplier.hasTable);
    const tables = yield* this.#tables(long.map(({ row }) => row[0] as PointAt));
    const images = long.length === 0 ? 0 : adder.images(tables, long.length * TABLE, this.#task.beta);
    yield;
    for (const [i, group] of long.entries()) {
      const at = i * TABLE * pointBytes;
      put(group, group.multiplier.halves[0], tables + at);
      put(group, group.multiplier.halves[1], images + at);
    }
    const short = groups.filter(({ multiplier }) => !multiplier.hasTable);
    for (const group of short) put(group, group.multiplier.halves[0], group.row[0] as PointAt);
    const others = short.filter(({ multiplier }) => multiplier.halves[1].some((digit) => digit !== 0));
    for (const group of others) {
      put(group, group.multiplier.halves[1], adder.images(group.row[0] as PointAt, 1, this.#task.beta));
    }
    // sorted by bits (counting sort)
    const bits = all.reduce((most, { digits }) => Math.max(most, digits.length), 0);
    const next = new Uint32Array(bits + 1);
    for (const { digits } of all) {
      for (let bit = 0; bit < digits.length; bit++)
        if (digits[bit] !== 0) next[bit + 1] = (next[bit + 1] as number) + 1;
    }
    for (let bit = 0; bit < bits; bit++) next[bit + 1] = (next[bit + 1] as number) + (next[bit] as number);
    const count = next[bits] as number;
    const [lanes, points] = [new Uint32Array(count), new Uint32Array(count)];
    for (const { lane, digits, table } of all) {
      for (let bit = 0; bit < digits.length; bit++) {
        const digit = digits[bit] as number;
        if (digit === 0) continue;
        const i = next[bit] as number;
        next[bit] = i + 1;
        lanes[i] = lane;
        points[i] = table + ((Math.abs(digit) - 1) / 2) * pointBytes + (digit < 0 ? 1 : 0);
      }
    }
    return { ends: next, lanes, points };
  }

  /** Returns the address of P, 3P, 5P and 7P of each point. */
  *#tables(points: readonly PointAt[]): Steps<PointAt> {
    const adder = this.#adder;
    const { pointBytes } = adder;
    const tables = adder.take(points.length * TABLE);
    const twos = adder.take(points.length);
    for (const [i, at] of points.entries()) {
      adder.copy(tables + i * TABLE * pointBytes, at, 1);
      adder.add(twos + i * pointBytes, at, at);
    }
    adder.flush();
    for (let k = 1; k < TABLE; k++) {
      for (let i = 0; i < points.length; i++) {
        const to = tables + (i * TABLE + k) * pointBytes;
        adder.add(to, to - pointBytes, twos + i * pointBytes);
      }
      adder.flush();
      yield;
    }
    return tables;
  }
}

/**
 * Adds up rows of points, in pairs side by side, and leaves one address in each that had some. The
 * points are overwritten.
 */
function* addRows(adder: PointAdder, rows: readonly PointAt[][]): Steps<void> {
  let left = rows.filter((row) => row.length > 1);
  while (left.length > 0) {
    for (const row of left) {
      const count = row.length;
      let next = 0;
      for (let i = 0; i < count; i += 2) {
        const P = row[i] as PointAt;
        if (i + 1 === count) row[next++] = P;
        else {
          const to = P & ~1;
          adder.add(to, P, row[i + 1] as PointAt);
          row[next++] = to;
        }
      }
      row.length = next;
    }
    adder.flush();
    yield;
    left = left.filter((row) => row.length > 1);
  }
}

const joined = (parts: readonly Uint32Array[]): Uint32Array => {
  if (parts.length === 1) return parts[0] as Uint32Array;
  const all = new Uint32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
};
