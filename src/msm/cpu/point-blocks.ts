/**
 * The points of an operand in the memory of an adder, a block at a time. Where threads share
 * memory, the first that enters a block leaves it there for the others, and for its next pass over
 * the points; else a thread keeps the blocks that it entered.
 */
import type { PointAdder, PointAt } from '../../wasm/points/point-adder.js';
import type { EnteredPoints } from './bucket-sums.js';
import { type Digits, digitsIn } from './digits.js';
import { ITEMS_PER_STEP, type Steps } from './steps.js';

/** Points of a block: enough for long lists of additions, few enough to stay in the cache. */
export const POINTS_OF_BLOCK = 2 ** 13;

/** Returns the number of blocks of some points. */
export const blocksOf = (count: number): number => Math.ceil(count / POINTS_OF_BLOCK);

/** Entered points in shared memory, in the format of the arithmetic of all threads. */
export interface SharedPoints {
  /** State of each block; 0 before any thread enters it. */
  readonly states: Int32Array;
  readonly words: Int32Array;
}

/** States of a block that a thread copies to shared memory, and of one that is there. */
const [NEW, COPYING, THERE] = [0, 1, 2];

/** Points and the digits of their scalars: a range of a vector. Can be sent to another thread. */
export interface Operands {
  /** x‖y of each point, little-endian; infinity is zeros. */
  readonly points: Uint32Array;
  /** Factor modulo p that the coordinates were multiplied by. */
  readonly scale: bigint;
  readonly digits: Digits;
  /** Absent where threads share no memory. */
  readonly shared?: SharedPoints | undefined;
}

export class PointBlocks {
  readonly #adder: PointAdder;
  readonly #operands: Operands;
  /** Addresses of the blocks that stay in memory. */
  readonly #kept: PointAt[] = [];
  /** Mark of the memory above them. */
  #ground: number;
  #current: { readonly block: number; readonly entered: EnteredPoints } | null = null;

  /** Reserves memory from the adder's mark on, until the adder releases it. */
  constructor(adder: PointAdder, operands: Operands) {
    this.#adder = adder;
    this.#operands = operands;
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
    const adder = this.#adder;
    const first = block * POINTS_OF_BLOCK;
    const count = Math.min(POINTS_OF_BLOCK, digits.count - first);
    adder.release(this.#ground);
    const points = shared ? yield* this.#enterShared(shared, block, count) : yield* this.#enterKept(block, count);
    const shifted = digits.shifted.subarray(first * digits.words, (first + count) * digits.words);
    const entered = { points, digits: digitsIn(adder, { ...digits, shifted, count }) };
    this.#current = { block, entered };
    return entered;
  }

  *#enterKept(block: number, count: number): Steps<PointAt> {
    const known = this.#kept[block];
    if (known !== undefined) return known;
    const at = yield* this.#convert(block, count);
    this.#kept[block] = at;
    this.#ground = this.#adder.mark;
    return at;
  }

  *#enterShared({ states, words }: SharedPoints, block: number, count: number): Steps<PointAt> {
    const adder = this.#adder;
    const size = (count * adder.pointBytes) / 4;
    const from = (block * POINTS_OF_BLOCK * adder.pointBytes) / 4;
    const place = words.subarray(from, from + size);
    if (Atomics.load(states, block) === THERE) return adder.copyIn(place);
    const isOwn = Atomics.compareExchange(states, block, NEW, COPYING) === NEW;
    const at = yield* this.#convert(block, count);
    if (isOwn) {
      place.set(adder.words(at, size));
      Atomics.store(states, block, THERE);
    }
    return at;
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
}
