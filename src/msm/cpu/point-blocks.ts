/**
 * The points of an operand and the digits of its scalars in the memory of an adder, a block at a
 * time. Where threads share memory, the first that enters a block leaves it there for the others,
 * and for its next pass over the points; else a thread keeps the blocks that it entered.
 */

import { ITEMS_PER_STEP, type Steps } from '../../scheduling/steps.js';
import type { PointAdder, PointAt } from '../../wasm/points/point-adder.js';
import type { EnteredPoints } from './bucket-sums.js';
import { type Digits, type DigitsInMemory, digitWriter, takeDigits, type WriteDigits } from './digits.js';

/** Points of a block: enough for long lists of additions, few enough to stay in the cache. */
export const POINTS_OF_BLOCK = 2 ** 13;

/** Returns the number of blocks of some points. */
export const blocksOf = (count: number): number => Math.ceil(count / POINTS_OF_BLOCK);

/** Entered points and digits in shared memory. */
export interface SharedBlocks {
  /** State of each block; 0 before any thread enters it. */
  readonly states: Int32Array;
  /** Points in the format of the arithmetic of all threads. */
  readonly points: Int32Array;
  readonly digits: Int32Array;
}

/** States of a block that a thread copies to shared memory, and of one that is there. */
const [NEW, COPYING, THERE] = [0, 1, 2];

/** Points and their scalars: a range of a vector. Can be sent to another thread. */
export interface Operands {
  /** x‖y of each point, little-endian; infinity is zeros. */
  readonly points: Uint32Array;
  /** Factor modulo p that the coordinates were multiplied by. */
  readonly scale: bigint;
  readonly digits: Digits;
  /** Absent where threads share no memory. */
  readonly shared?: SharedBlocks | undefined;
}

/** A block that stays in memory: its digits, and the address of its points. */
interface KeptBlock {
  readonly points: PointAt;
  readonly digits: Int32Array;
}

export class PointBlocks {
  readonly #adder: PointAdder;
  readonly #operands: Operands;
  readonly #writeDigits: WriteDigits;
  readonly #kept: KeptBlock[] = [];
  /** Mark of the memory above the points that are kept. */
  #ground: number;
  #current: { readonly block: number; readonly entered: EnteredPoints } | null = null;

  /** Reserves memory from the adder's mark on, until the adder releases it. */
  constructor(adder: PointAdder, operands: Operands) {
    this.#adder = adder;
    this.#operands = operands;
    this.#writeDigits = digitWriter(operands.digits);
    this.#ground = adder.mark;
  }

  /** Yields all blocks, each valid until the next: at first those that take the least time. */
  *passes(): Generator<() => Steps<EnteredPoints>> {
    const { digits, shared } = this.#operands;
    const left = new Set(Array.from({ length: blocksOf(digits.count) }, (_, block) => block));
    const isIn = (state: number) => (block: number) =>
      shared !== undefined && Atomics.load(shared.states, block) === state;
    while (left.size > 0) {
      const all = [...left];
      const next = all.find((block) => block === this.#current?.block) ?? all.find(isIn(THERE)) ?? all.find(isIn(NEW));
      const block = next ?? (all[0] as number);
      left.delete(block);
      yield () => this.#enter(block);
    }
  }

  *#enter(block: number): Steps<EnteredPoints> {
    if (this.#current?.block === block) return this.#current.entered;
    const { digits, shared } = this.#operands;
    const count = Math.min(POINTS_OF_BLOCK, digits.count - block * POINTS_OF_BLOCK);
    this.#adder.release(this.#ground);
    const entered = shared ? yield* this.#enterShared(shared, block, count) : yield* this.#enterKept(block, count);
    this.#current = { block, entered };
    return entered;
  }

  *#enterKept(block: number, count: number): Steps<EnteredPoints> {
    const adder = this.#adder;
    const kept = this.#kept[block];
    if (kept !== undefined) return { points: kept.points, digits: this.#copyDigits(kept.digits, count) };
    const points = yield* this.#convert(block, count);
    this.#ground = adder.mark;
    const digits = yield* this.#write(block, count);
    this.#kept[block] = { points, digits: adder.words(digits.at, count * digits.words).slice() };
    return { points, digits };
  }

  *#enterShared(shared: SharedBlocks, block: number, count: number): Steps<EnteredPoints> {
    const adder = this.#adder;
    const { words } = this.#operands.digits;
    const part = (all: Int32Array, wordsEach: number): Int32Array => {
      const from = block * POINTS_OF_BLOCK * wordsEach;
      return all.subarray(from, from + count * wordsEach);
    };
    const [sharedPoints, sharedDigits] = [part(shared.points, adder.pointBytes / 4), part(shared.digits, words)];
    if (Atomics.load(shared.states, block) === THERE) {
      const points = adder.copyIn(sharedPoints);
      return { points, digits: this.#copyDigits(sharedDigits, count) };
    }
    const isOwn = Atomics.compareExchange(shared.states, block, NEW, COPYING) === NEW;
    const points = yield* this.#convert(block, count);
    const digits = yield* this.#write(block, count);
    if (isOwn) {
      sharedPoints.set(adder.words(points, sharedPoints.length));
      sharedDigits.set(adder.words(digits.at, sharedDigits.length));
      Atomics.store(shared.states, block, THERE);
    }
    return { points, digits };
  }

  /** Converts points to the format of the arithmetic: each part is placed behind the one before. */
  *#convert(block: number, count: number): Steps<PointAt> {
    const { points, scale, digits } = this.#operands;
    const adder = this.#adder;
    const pointWords = points.length / digits.count;
    const first = block * POINTS_OF_BLOCK;
    const start = adder.mark;
    for (let i = first; i < first + count; i += ITEMS_PER_STEP) {
      const end = Math.min(i + ITEMS_PER_STEP, first + count);
      adder.enter(points.subarray(i * pointWords, end * pointWords), scale);
      yield;
    }
    return start;
  }

  #copyDigits(written: Int32Array, count: number): DigitsInMemory {
    const digits = takeDigits(this.#adder, this.#operands.digits, count);
    this.#adder.words(digits.at, written.length).set(written);
    return digits;
  }

  /** Writes the digits of a block. */
  *#write(block: number, count: number): Steps<DigitsInMemory> {
    const adder = this.#adder;
    const digits = takeDigits(adder, this.#operands.digits, count);
    const first = block * POINTS_OF_BLOCK;
    for (let i = 0; i < count; i += ITEMS_PER_STEP) {
      const some = Math.min(ITEMS_PER_STEP, count - i);
      const to = adder.words(digits.at + 4 * i * digits.words, some * digits.words);
      this.#writeDigits(first + i, first + i + some, to);
      yield;
    }
    return digits;
  }
}
