/**
 * What one thread does of a round: of some vectors the sums of those rows of buckets that it draws. No state outlives it, and it knows nothing of other
 * threads: what they have of the same window is added up where all of it comes together (gather.ts).
 */

import type { PointAdder, PointAt } from '../../wasm/arithmetic/point-adder.js';
import { bucketSums, INFINITY, plus, type Range, type Steps, weightedSums } from './bucket-sums.js';
import type { Digits } from './digits.js';

/** Points and the digits of their scalars: a vector, or a part of one. It may be sent to another thread. */
export interface Operands {
  /** x‖y of each point, little-endian; zeros are infinity. */
  readonly points: Uint32Array;
  /** What coordinates were multiplied by, modulo p. */
  readonly scale: bigint;
  readonly digits: Digits;
}

/** Buckets of a row, which is the least that a thread draws: 2^6. */
const ROW_BITS = 6;

/** Rows of a window, a power of two; as a power. */
const rowBits = (windowBits: number): number => Math.max(0, windowBits - 1 - ROW_BITS);

/** Rows of all windows of a piece. */
export const rowsOf = ({ digits }: { readonly digits: Pick<Digits, 'windows' | 'windowBits'> }): number =>
  digits.windows * 2 ** rowBits(digits.windowBits);

/** Digits of as many windows go into buckets together as are no more than this: lists are long then, and what is added is still in the cache. */
const MOST_DIGITS = 2 ** 14;

/** Sums of windows, of some pieces; windows are counted over all pieces of the round. */
export interface WindowSums {
  readonly windows: Uint32Array;
  /** A point each, as `WideAdder` has it in memory. */
  readonly points: Int32Array;
  /** Digits that were not zero. */
  readonly entries: number;
}

export class Share {
  readonly #adder: PointAdder;
  readonly #pieces: readonly Operands[];
  /** Of each piece its first row, its first window, and its first slot. */
  readonly #starts: readonly { readonly row: number; readonly window: number; readonly slot: number }[];
  /**
   * Sums that grow: of each window what its rows count for, were each of them the lowest; and for each bit of a row's number, the plain sums of
   * the rows that have it.
   */
  readonly #sums: Uint32Array;
  readonly #room: PointAt;
  readonly #ground: number;
  #entered: { readonly piece: Operands; readonly points: Uint32Array } | null = null;
  #entries = 0;

  constructor(adder: PointAdder, pieces: readonly Operands[]) {
    this.#adder = adder;
    this.#pieces = pieces;
    const next = { row: 0, window: 0, slot: 0 };
    this.#starts = pieces.map((piece) => {
      const start = { ...next };
      const { windows, windowBits } = piece.digits;
      next.row += rowsOf(piece);
      next.window += windows;
      next.slot += windows * (1 + rowBits(windowBits));
      return start;
    });
    this.#sums = new Uint32Array(next.slot).fill(INFINITY);
    adder.release();
    this.#room = adder.take(next.slot);
    this.#ground = adder.mark;
  }

  /** Adds the rows from one up to another, counted over all pieces. */
  *add(first: number, end: number): Steps<void> {
    for (const [p, piece] of this.#pieces.entries()) {
      const { row } = this.#starts[p] as { row: number };
      const from = Math.max(first - row, 0);
      const to = Math.min(end - row, rowsOf(piece));
      if (from < to) yield* this.#rows(p, from, to);
    }
  }

  *#rows(p: number, from: number, to: number): Steps<void> {
    const { windowBits, count } = (this.#pieces[p] as Operands).digits;
    const rows = 2 ** rowBits(windowBits);
    const width = 2 ** (windowBits - 1) / rows;
    const together = Math.max(1, Math.floor(MOST_DIGITS / count));
    for (let row = from; row < to; ) {
      const [first, own] = [Math.floor(row / rows), row % rows];
      const whole = own === 0 ? Math.min(Math.floor((to - row) / rows), together) : 0;
      const last = whole > 0 ? rows : Math.min(rows, own + to - row);
      yield* this.#buckets(p, { first, end: first + (whole || 1), low: own * width, high: last * width });
      row += whole > 0 ? whole * rows : last - own;
    }
  }

  *#buckets(p: number, range: Range): Steps<void> {
    const adder = this.#adder;
    const { digits } = this.#pieces[p] as Operands;
    const points = this.#enter(p);
    const mark = adder.mark;
    const filled = yield* bucketSums(adder, digits, points, range);
    this.#entries += filled.entries;
    const { first, end, low, high } = range;
    const { weighted, plain } = yield* weightedSums(adder, filled.buckets, high - low, low > 0);
    for (let j = first; j < end; j++) this.#into(this.#slot(p, j, 0), weighted[j - first] as number);
    if (plain !== null) {
      const row = low / 2 ** ROW_BITS;
      for (let bit = 0; 2 ** bit <= row; bit++) {
        if ((row >> bit) & 1) this.#into(this.#slot(p, first, 1 + bit), plain[0] as number);
      }
    }
    adder.flush();
    adder.release(mark);
  }

  #slot(p: number, window: number, which: number): number {
    const { windowBits } = (this.#pieces[p] as Operands).digits;
    return (this.#starts[p] as { slot: number }).slot + window * (1 + rowBits(windowBits)) + which;
  }

  #into(slot: number, sum: PointAt): void {
    if (sum === INFINITY) return;
    const to = this.#room + slot * this.#adder.pointBytes;
    this.#adder.add(to, this.#sums[slot] as number, sum);
    this.#sums[slot] = to;
  }

  /** Where the points of a piece are: in memory are those of one at a time. */
  #enter(p: number): Uint32Array {
    const adder = this.#adder;
    const piece = this.#pieces[p] as Operands;
    if (this.#entered?.piece !== piece) {
      adder.release(this.#ground);
      const start = adder.enter(piece.points, piece.scale);
      const points = Uint32Array.from({ length: piece.digits.count }, (_, i) => start + i * adder.pointBytes);
      this.#entered = { piece, points };
    }
    return this.#entered.points;
  }

  /** What all rows come to that were added. It may be asked once. */
  *settle(): Steps<WindowSums> {
    const adder = this.#adder;
    const lanes = this.#pieces.flatMap(({ digits: { windows, windowBits } }, p) =>
      Array.from({ length: windows }, (_, j) => ({
        window: (this.#starts[p] as { window: number }).window + j,
        slot: this.#slot(p, j, 0),
        bits: rowBits(windowBits),
        above: INFINITY,
      })),
    );
    const most = lanes.reduce((bits, lane) => Math.max(bits, lane.bits), 0);
    for (let bit = most - 1; bit >= -ROW_BITS; bit--) {
      for (const lane of lanes) lane.above = plus(adder, lane.above, lane.above);
      adder.flush();
      if (bit >= 0) {
        for (const lane of lanes) {
          if (bit < lane.bits) lane.above = plus(adder, lane.above, this.#sums[lane.slot + 1 + bit] as number);
        }
        adder.flush();
      }
      yield;
    }
    const sums = lanes.map(({ window, slot, above }) => ({
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
}
