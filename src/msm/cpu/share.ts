/**
 * One thread's share of a round: for the bucket rows that it was handed, their contribution to each
 * window sum. `combineWindows` adds the contributions of several threads to one window.
 *
 * A bucket row is 2^6 consecutive buckets of one window. Consecutive rows are added up together, as
 * one run. In the run that begins with row k, bucket i counts 64·k + i + 1 times. The share adds up
 * Σ (i + 1)·B_i of the run at once, and Σ B_i for each set bit of k. The factors 64·k are applied
 * at the end, by double and add over these bits.
 */

import type { Steps } from '../../scheduling/steps.js';
import type { PointAdder, PointAt } from '../../wasm/points/point-adder.js';
import { mostBuckets, placesOf, ROW_BITS, rangeGroups, rowBits } from './bucket-ranges.js';
import { addToBuckets, type BucketRange, bucketsIn, filledSums, INFINITY, plus } from './bucket-sums.js';
import type { DigitShape } from './digits.js';
import { type Operands, PointBlocks } from './point-blocks.js';
import { weightedSums } from './weighted-sums.js';

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
