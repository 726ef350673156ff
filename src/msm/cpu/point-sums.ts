/**
 * Many sums of multiples of points, each of few terms: points that are multiplied by scalars, or the rows
 * of a sparse matrix times points. Doublings and additions of many sums are lists that share inversions
 * (Montgomery 1987, section 10.3.1), without buckets. Terms with the same multiplier are added up first,
 * and share one multiplication.
 */
import type { Steps } from '../../scheduling/time-slice.js';
import type { PointAdder, PointAt } from '../../wasm/points/point-adder.js';
import {
  type Digits,
  hasLongPart,
  type Multiplier,
  type Multipliers,
  multiplierAt,
  PointMultiples,
  placeOf,
  TABLE,
} from './point-multiples.js';

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
  /**
   * Of butterflies, whose sums have one term each: x‖y of another point for each. Their results are this
   * point plus the term and this point minus the term, one behind the other.
   */
  readonly addends?: Uint32Array | undefined;
}

/** Returns the number of results of a sum. */
export const resultsOf = ({ addends }: Pick<ManySums, 'addends'>): 1 | 2 => (addends === undefined ? 1 : 2);

/** Sums as threads take them. Can be sent to a thread. */
export interface SumsTask extends Omit<ManySums, 'multipliers'> {
  readonly kind: 'sums';
  /** x‖y of the factors of the endomorphism, little-endian. */
  readonly factors: Uint32Array;
  readonly multipliers: Multipliers;
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
  #multiples: PointMultiples | null = null;
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
    for (const { parts } of this.#known.values()) for (const digits of parts) digits.fill(0);
    this.#known.clear();
    this.#multiples?.wipe();
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
    const { points, starts, scales, addends, factors } = this.#task;
    const [first, end] = [starts[from] as number, starts[to] as number];
    adder.release();
    const multiples = new PointMultiples(adder, adder.enter(factors, 1n));
    this.#multiples = multiples;
    const entered = this.#enter(points, first, end);
    this.#terms += end - first;
    yield;
    const products = this.#haveOneTerm(from, to) ? yield* this.#products(multiples, entered, first, end) : null;
    if (products !== null) {
      if (addends === undefined) return scales.map((factor) => adder.leave(products, to - from, factor));
      const sums = this.#butterflies(this.#enter(addends, first, end), products, end - first);
      return scales.map((factor) => adder.leave(sums, 2 * (end - first), factor));
    }
    const { rows, groups, lanes } = this.#grouped(from, to, entered);
    yield* addRows(
      adder,
      groups.map(({ row }) => row),
    );
    const totals = yield* this.#multiply(multiples, groups, lanes.length);
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

  /** Copies the points of terms to the adder, and checks that they are on the curve. */
  #enter(points: Uint32Array, first: number, end: number): PointAt {
    const adder = this.#adder;
    const entered = adder.enter(points.subarray(first * this.#pointWords, end * this.#pointWords), this.#task.scale);
    const right = adder.check(entered, end - first);
    if (right < end - first) this.#wrong ??= first + right;
    return entered;
  }

  #haveOneTerm(from: number, to: number): boolean {
    const { starts } = this.#task;
    for (let sum = from; sum < to; sum++) {
      if ((starts[sum + 1] as number) - (starts[sum] as number) !== 1) return false;
    }
    return true;
  }

  /**
   * Multiplies the points of terms without notes of the places of every digit, which `#multiply` keeps.
   *
   * @returns the address of the first product; null where most multipliers are short, so that sums of
   *   `#multiply` take less
   */
  *#products(multiples: PointMultiples, points: PointAt, first: number, end: number): Steps<PointAt | null> {
    const { which, multipliers, addends } = this.#task;
    const own = which.subarray(first, end);
    const index = own[0] as number;
    if (own.every((each) => each === index)) {
      const multiplier = this.#multiplier(index);
      if (!multiplier.hasTable && addends === undefined) return null;
      return yield* multiples.byOne(multiplier, points, own.length);
    }
    const long = own.reduce((count, each) => count + Number(hasLongPart(multipliers, each)), 0);
    if (2 * long < own.length && addends === undefined) return null;
    return yield* multiples.byEach(multipliers, own, points);
  }

  /** Returns the address of A + P and A − P, one behind the other, for points A and P. */
  #butterflies(addends: PointAt, products: PointAt, count: number): PointAt {
    const adder = this.#adder;
    const { pointBytes } = adder;
    const sums = adder.take(2 * count);
    for (let i = 0; i < count; i++) {
      const [to, A, P] = [sums + 2 * i * pointBytes, addends + i * pointBytes, products + i * pointBytes];
      adder.add(to, A, P);
      adder.add(to + pointBytes, A, P + 1);
    }
    adder.flush();
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
  *#multiply(multiples: PointMultiples, groups: readonly Group[], lanes: number): Steps<PointAt[]> {
    const adder = this.#adder;
    const { pointBytes } = adder;
    const current = new Array<PointAt>(lanes).fill(0);
    if (groups.length === 0) return current;
    const slots = adder.take(lanes);
    const { ends, lanes: added, points } = yield* this.#hits(multiples, groups);
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
  *#hits(multiples: PointMultiples, groups: readonly Group[]): Steps<Hits> {
    const adder = this.#adder;
    const { pointBytes } = adder;
    const all: { readonly lane: number; readonly digits: Digits; readonly table: PointAt }[] = [];
    const put = ({ lane, multiplier }: Group, tables: readonly PointAt[]): void => {
      for (const [k, table] of tables.entries()) all.push({ lane, digits: multiplier.parts[k] as Digits, table });
    };
    const { parts } = this.#task.multipliers;
    const long = groups.filter(({ multiplier }) => multiplier.hasTable);
    const table = yield* multiples.table(long.map(({ row }) => row[0] as PointAt));
    const tables = multiples.images(table, long.length * TABLE, parts);
    yield;
    let next = 0;
    for (const group of groups) {
      const { multiplier, row } = group;
      if (multiplier.hasTable) {
        const behind = next++ * TABLE * pointBytes;
        put(
          group,
          tables.map((at) => at + behind),
        );
        continue;
      }
      const used = multiplier.parts.reduce(
        (last, digits, k) => (digits.some((digit) => digit !== 0) ? k + 1 : last),
        1,
      );
      put(group, multiples.images(row[0] as PointAt, 1, used));
    }
    // sorted by bits (counting sort)
    const bits = all.reduce((most, { digits }) => Math.max(most, digits.length), 0);
    const ends = new Uint32Array(bits + 1);
    for (const { digits } of all) {
      for (let bit = 0; bit < digits.length; bit++)
        if (digits[bit] !== 0) ends[bit + 1] = (ends[bit + 1] as number) + 1;
    }
    for (let bit = 0; bit < bits; bit++) ends[bit + 1] = (ends[bit + 1] as number) + (ends[bit] as number);
    const count = ends[bits] as number;
    const [lanes, points] = [new Uint32Array(count), new Uint32Array(count)];
    for (const { lane, digits, table } of all) {
      for (let bit = 0; bit < digits.length; bit++) {
        const digit = digits[bit] as number;
        if (digit === 0) continue;
        const i = ends[bit] as number;
        ends[bit] = i + 1;
        lanes[i] = lane;
        points[i] = table + placeOf(digit, pointBytes);
      }
    }
    return { ends, lanes, points };
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
