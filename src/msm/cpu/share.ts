/**
 * One thread's share of a round: for the bucket rows that it was handed, their contribution to each
 * window sum. `combineWindows` adds the contributions of several threads to one window.
 *
 * A bucket row is 2^6 consecutive buckets of one window. Consecutive rows are added up together, as
 * one run. In the run that begins with row k, bucket i counts 64·k + i + 1 times. The share adds up
 * Σ (i + 1)·B_i of the run at once, and Σ B_i for each set bit of k. The factors 64·k are applied
 * at the end, by double and add over these bits.
 */
import type { Steps } from '../../scheduling/time-slice.js';
import type { PointAdder, PointAt } from '../../wasm/points/point-adder.js';
import {
  addToBuckets,
  type BucketRange,
  blocksOf,
  bucketsIn,
  type DigitShape,
  filledSums,
  INFINITY,
  type Operands,
  PointBlocks,
  plus,
} from './buckets.js';

/** Task of a round, the same for all threads. Rows are counted over all operands. */
export interface RoundTask {
  readonly operands: readonly Operands[];
  /** First row of each chunk, and behind them the number of rows. */
  readonly cuts: readonly number[];
}

/** Returns the number of rows in all windows of some operands. */
export const rowsOf = ({ digits }: { readonly digits: Pick<DigitShape, 'windows' | 'windowBits'> }): number =>
  digits.windows * 2 ** rowBits(digits.windowBits);

/** Sums of windows, or one thread's contributions to them. */
export interface WindowSums {
  /** Indices of the windows, counted over all operands of the round. */
  readonly windows: Uint32Array;
  /** One point for each, in the memory format of `PointAdder`. */
  readonly points: Int32Array;
  /** Number of digits that were not zero. */
  readonly entries: number;
}

/** Position of some operands among all of a round. */
interface Start {
  readonly row: number;
  readonly window: number;
  readonly slot: number;
}

/** One window while its rows' factors are applied. */
interface WindowTotal {
  readonly window: number;
  readonly slot: number;
  readonly bits: number;
  /** Σ 64·k·(Σ B_i of the run that begins with row k). */
  above: PointAt;
}

/** An operand whose points go through memory. */
interface Entered {
  readonly operands: Operands;
  /** Address of the sums of buckets. */
  readonly sums: PointAt;
  readonly blocks: PointBlocks;
}

export class Share {
  readonly #adder: PointAdder;
  readonly #operands: readonly Operands[];
  readonly #starts: readonly Start[];
  /**
   * Addresses of the accumulated sums; 0 for infinity. Each window has 1 + `rowBits` slots: the sum
   * of Σ (i + 1)·B_i of its runs, and for each bit of k the sum of Σ B_i where it is set.
   */
  readonly #sums: Uint32Array;
  /** Address of the first slot. */
  readonly #slots: PointAt;
  /** Mark of the adder's memory above the slots. */
  readonly #ground: number;
  #entered: Entered | null = null;
  #entries = 0;

  constructor(adder: PointAdder, operands: readonly Operands[]) {
    this.#adder = adder;
    this.#operands = operands;
    const next = { row: 0, window: 0, slot: 0 };
    this.#starts = operands.map((each) => {
      const start = { ...next };
      const { windows, windowBits } = each.digits;
      next.row += rowsOf(each);
      next.window += windows;
      next.slot += windows * (1 + rowBits(windowBits));
      return start;
    });
    this.#sums = new Uint32Array(next.slot).fill(INFINITY);
    adder.release();
    this.#slots = adder.take(next.slot);
    this.#ground = adder.mark;
  }

  /** Number of digits that were not zero, so far. */
  get entries(): number {
    return this.#entries;
  }

  /** Adds the rows of a chunk. @param cuts first row of each chunk, and the number of rows */
  addChunk(cuts: readonly number[], chunk: number): Steps<void> {
    return this.add(cuts[chunk] as number, cuts[chunk + 1] as number);
  }

  /** Adds the rows `first` to `end`, counted over all operands. */
  *add(first: number, end: number): Steps<void> {
    for (const [index, operands] of this.#operands.entries()) {
      const { row } = this.#starts[index] as Start;
      const from = Math.max(first - row, 0);
      const to = Math.min(end - row, rowsOf(operands));
      if (from < to) yield* this.#addRows(index, from, to);
    }
  }

  /** Adds rows of one operand. All its points are added to the buckets of a group of ranges. */
  *#addRows(index: number, from: number, to: number): Steps<void> {
    const adder = this.#adder;
    const { sums, blocks } = this.#enter(index);
    for (const group of rangeGroups((this.#operands[index] as Operands).digits, from, to)) {
      const sumsOf: readonly PointAt[] = placesOf(group, sums, adder.pointBytes);
      let isFirst = true;
      for (const enter of blocks.passes()) {
        const entered = yield* enter();
        for (const [i, range] of group.entries()) {
          const mark = adder.mark;
          this.#entries += yield* addToBuckets(adder, entered, range, sumsOf[i] as PointAt, isFirst);
          adder.release(mark);
        }
        isFirst = false;
      }
      for (const [i, range] of group.entries()) yield* this.#weigh(index, range, sumsOf[i] as PointAt);
    }
  }

  /** Adds the sums of the buckets of a range to those of their windows. */
  *#weigh(index: number, range: BucketRange, sums: PointAt): Steps<void> {
    const adder = this.#adder;
    const mark = adder.mark;
    const { first, end, low, high } = range;
    const filled = filledSums(adder, sums, bucketsIn(range));
    const { weighted, plain } = yield* weightedSums(adder, filled, high - low, low > 0);
    for (let j = first; j < end; j++) {
      this.#addTo(this.#slot(index, j, 0), weighted[j - first] as number);
    }
    if (plain !== null) {
      const row = low / 2 ** ROW_BITS;
      for (let bit = 0; 2 ** bit <= row; bit++) {
        if ((row >> bit) & 1) this.#addTo(this.#slot(index, first, 1 + bit), plain[0] as number);
      }
    }
    adder.flush();
    adder.release(mark);
  }

  #slot(index: number, window: number, which: number): number {
    const { windowBits } = (this.#operands[index] as Operands).digits;
    return (this.#starts[index] as Start).slot + window * (1 + rowBits(windowBits)) + which;
  }

  #addTo(slot: number, sum: PointAt): void {
    if (sum === INFINITY) return;
    const to = this.#slots + slot * this.#adder.pointBytes;
    this.#adder.add(to, this.#sums[slot] as number, sum);
    this.#sums[slot] = to;
  }

  /** Makes room for an operand. Only one is in memory at a time. */
  #enter(index: number): Entered {
    const adder = this.#adder;
    const operands = this.#operands[index] as Operands;
    if (this.#entered?.operands !== operands) {
      adder.release(this.#ground);
      const sums = adder.take(mostBuckets(operands.digits));
      this.#entered = { operands, sums, blocks: new PointBlocks(adder, operands) };
    }
    return this.#entered;
  }

  /** Returns the contributions of all rows added. Can be called once. */
  *settle(): Steps<WindowSums> {
    const adder = this.#adder;
    const totals = this.#operands.flatMap(({ digits: { windows, windowBits } }, index) =>
      Array.from(
        { length: windows },
        (_, j): WindowTotal => ({
          window: (this.#starts[index] as Start).window + j,
          slot: this.#slot(index, j, 0),
          bits: rowBits(windowBits),
          above: INFINITY,
        }),
      ),
    );
    yield* this.#applyRowNumbers(totals);
    const sums = totals.map(({ window, slot, above }) => ({
      window,
      sum: plus(adder, this.#sums[slot] as number, above),
    }));
    adder.flush();
    const finite = sums.filter(({ sum }) => sum !== INFINITY);
    return {
      windows: Uint32Array.from(finite, ({ window }) => window),
      points: adder.copyOut(finite.map(({ sum }) => sum)),
      entries: this.#entries,
    };
  }

  /** Computes `above` of all windows side by side, from the highest bit of the row numbers. */
  *#applyRowNumbers(totals: readonly WindowTotal[]): Steps<void> {
    const adder = this.#adder;
    const most = totals.reduce((bits, total) => Math.max(bits, total.bits), 0);
    for (let bit = most - 1; bit >= -ROW_BITS; bit--) {
      for (const total of totals) total.above = plus(adder, total.above, total.above);
      adder.flush();
      if (bit >= 0) {
        for (const total of totals) {
          if (bit >= total.bits) continue;
          total.above = plus(adder, total.above, this.#sums[total.slot + 1 + bit] as number);
        }
        adder.flush();
      }
      yield;
    }
  }
}

/* Cuts the bucket rows of an operand into ranges that are added up one after the other. */

/** Logarithm of the buckets in a row. */
const ROW_BITS = 6;

/** Returns the logarithm of the rows in a window. */
const rowBits = (windowBits: number): number => Math.max(0, windowBits - 1 - ROW_BITS);

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
function* rangeGroups(
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
const mostBuckets = ({ windowBits, windows, count }: Omit<DigitShape, 'words'>): number => {
  const window = 2 ** (windowBits - 1);
  const most = blocksOf(count) > 1 ? MOST_BUCKETS : 0;
  return window * Math.min(windows, Math.max(windowsTogether(count), Math.floor(most / window)));
};

/** Returns the address of the first bucket's sum of each range, one behind the other. */
const placesOf = (group: readonly BucketRange[], first: PointAt, pointBytes: number): readonly PointAt[] => {
  let next = first;
  return group.map((range) => {
    const at = next;
    next += bucketsIn(range) * pointBytes;
    return at;
  });
};

/*
 * Bucket reduction of Pippenger's algorithm: Σ (k + 1)·P_k of rows of points, by running sums over
 * short segments that are computed side by side.
 */

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
function* weightedSums(
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
