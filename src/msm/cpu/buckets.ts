/**
 * Bucket accumulation of Pippenger's algorithm on the CPU (Pippenger 1976): signed digits of scalars,
 * the points of an operand in the memory of an adder block by block, and the sums of buckets. Additions
 * go into lists, each of which shares one inversion: an inversion takes as long as some 100 products
 * here. WebAssembly sorts the points by bucket, pairs them and adds.
 */
import type { CurveContext } from '../../curves/curve.js';
import { wordsOf } from '../../curves/point-source.js';
import { digitsOf, isBelow, readWords, writeWords } from '../../field/modulus.js';
import { ITEMS_PER_STEP, type Steps } from '../../scheduling/time-slice.js';
import { PAIR_STATE, PAIR_STATE_BYTES, type WindowArguments } from '../../wasm/arithmetic/bucket-functions.js';
import type { PointAdder, PointAt } from '../../wasm/points/point-adder.js';
import { windowCount } from '../plan/workload.js';

/* Signed digits of scalars, extracted window by window. */

/** Shape of signed digits in a form from which they are read without carries. */
export interface DigitShape {
  readonly windowBits: number;
  readonly windows: number;
  /** Words per scalar in this form. */
  readonly words: number;
  /** Number of scalars. */
  readonly count: number;
}

/**
 * Scalars whose digits are written where they are needed: the threads of a round share that work.
 * Can be sent to another thread.
 */
interface Digits extends DigitShape, Pick<CurveContext, 'order' | 'negatesScalars' | 'scalarBytes'> {
  /** Scalars in the public format. */
  readonly scalars: Uint32Array;
}

/**
 * Returns a function that reduces a scalar modulo the group order r. Where every point has an order
 * that divides r, a scalar becomes the shorter of s and s − r, negative numbers in two's
 * complement; else s in [0, r). Its argument is the scalar, with one word more for the sign.
 */
const reducer = (
  { order, negatesScalars }: Pick<CurveContext, 'order' | 'negatesScalars'>,
  words: number,
): ((scalar: Uint32Array<ArrayBuffer>) => void) => {
  const [r, larger] = [order, (order >> 1n) + 1n].map((value) => digitsOf(value, 32, words)) as [number[], number[]];
  return (scalar) => {
    if (isBelow(scalar, 0, larger)) return;
    if (!isBelow(scalar, 0, r)) writeWords(scalar, 0, words, readWords(scalar, 0, words) % order);
    if (!negatesScalars || isBelow(scalar, 0, larger)) return;
    let borrow = 0;
    for (let w = 0; w < words; w++) {
      const rest = (scalar[w] as number) - (r[w] as number) - borrow;
      scalar[w] = rest;
      borrow = rest < 0 ? 1 : 0;
    }
  };
};

/** Returns the words per scalar of signed digits. */
export const wordsOfDigits = (windows: number, windowBits: number): number =>
  Math.ceil((windows * windowBits + 1) / 32) + 1;

/**
 * Returns the shape of signed digits d_j of c bits, |d_j| ≤ 2^(c−1), of some scalars.
 *
 * @param given scalars in the public format
 * @param bits bit length at most of a scalar modulo the order
 */
export const digitsOfScalars = (
  { order, negatesScalars, scalarBytes }: CurveContext,
  given: Uint8Array<ArrayBuffer>,
  bits: number,
  windowBits: number,
): Digits => {
  const scalars = wordsOf(given);
  const windows = windowCount(bits, windowBits);
  const words = wordsOfDigits(windows, windowBits);
  const count = (4 * scalars.length) / scalarBytes;
  return { windowBits, windows, words, count, scalars, order, negatesScalars, scalarBytes };
};

/** Writes the digits of scalars `first` to `end`. */
type WriteDigits = (first: number, end: number, to: Int32Array) => void;

/**
 * Returns a function that writes signed digits. The digits of s + Σ 2^(c−1)·2^(c·j), less 2^(c−1)
 * each, are the signed digits of s: each is read without a carry from the one below. Written are
 * these sums, little-endian, `words` each.
 */
const digitWriter = ({ scalars, windowBits, windows, words, scalarBytes, ...order }: Digits): WriteDigits => {
  let offset = 0n;
  for (let j = 0; j < windows; j++) offset |= 1n << BigInt(windowBits * j + windowBits - 1);
  const added = digitsOf(offset, 32, words);
  const own = scalarBytes / 4;
  const scalar = new Uint32Array(own + 1);
  const reduce = reducer(order, own + 1);
  return (first, end, to) => {
    for (let i = first; i < end; i++) {
      for (let w = 0; w < own; w++) scalar[w] = scalars[i * own + w] as number;
      scalar[own] = 0;
      reduce(scalar);
      const sign = ((scalar[own] as number) >> 31) >>> 0;
      let carry = 0;
      for (let w = 0; w < words; w++) {
        const sum = (w <= own ? (scalar[w] as number) : sign) + (added[w] as number) + carry;
        to[(i - first) * words + w] = sum;
        carry = sum > 0xffffffff ? 1 : 0;
      }
    }
  };
};

/** Digits in the memory of an adder. */
interface DigitsInMemory extends DigitShape {
  /** Address of what `WriteDigits` writes. */
  readonly at: number;
}

/** Reserves memory for digits. They are read 64 bits at a time, so some bytes follow. */
const takeDigits = (adder: PointAdder, { windowBits, windows, words }: DigitShape, count: number): DigitsInMemory => ({
  windowBits,
  windows,
  words,
  count,
  at: adder.takeWords(count * words + 2),
});

/**
 * Returns where the digits of window `j` are, and which buckets are wanted. The top digit takes all
 * bits that are left.
 */
const windowArguments = (
  { windowBits, windows, words, count, at }: DigitsInMemory,
  j: number,
  low: number,
  width: number,
): WindowArguments => {
  const bit = j * windowBits;
  const mask = 2 ** (j === windows - 1 ? windowBits + 1 : windowBits) - 1;
  return [at + (bit >>> 3), 4 * words, bit & 7, mask, 2 ** (windowBits - 1), count, low, width];
};

/*
 * The points of an operand and the digits of its scalars in the memory of an adder, a block at a
 * time. Where threads share memory, the first that enters a block leaves it there for the others,
 * and for its next pass over the points; else a thread keeps the blocks that it entered.
 */

/** Points of a block: enough for long lists of additions, few enough to stay in the cache. */
export const POINTS_OF_BLOCK = 2 ** 13;

/** Returns the number of blocks of some points. */
export const blocksOf = (count: number): number => Math.ceil(count / POINTS_OF_BLOCK);

/** Entered points and digits in shared memory. */
interface SharedBlocks {
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

/* Sums of buckets: wasm/arithmetic/bucket-functions.ts sorts and pairs, list-adder.ts adds. */

/** Address of infinity. */
export const INFINITY: PointAt = 0;

/** The windows `first` to `end`, and of each the buckets `low` to `high`, counted from 0. */
export interface BucketRange {
  readonly first: number;
  readonly end: number;
  readonly low: number;
  readonly high: number;
}

/** Returns the number of buckets in a range. */
export const bucketsIn = ({ first, end, low, high }: BucketRange): number => (end - first) * (high - low);

/** Consecutive points and the digits of their scalars, in the memory of an adder. */
interface EnteredPoints {
  /** Address of the first point. */
  readonly points: PointAt;
  readonly digits: DigitsInMemory;
}

/** Points sorted by bucket: addresses of the sorted points, and of where buckets begin. */
interface Sorted {
  readonly row: number;
  readonly starts: number;
  /** Number of sorted points. */
  readonly entries: number;
}

/**
 * Sorts the points of a range by bucket, in the memory of an adder; a step for each window.
 *
 * @param sums address of sums of the buckets, which become the first of their buckets; null if
 *   there are none yet
 */
function* sortIntoBuckets(
  adder: PointAdder,
  { points, digits }: EnteredPoints,
  range: BucketRange,
  sums: PointAt | null,
): Steps<Sorted> {
  const { first, end, low, high } = range;
  const width = high - low;
  const count = bucketsIn(range);
  const starts = adder.takeWords(count + 2);
  adder.words(starts, count + 2).fill(sums === null ? 0 : 1);
  adder.words(starts, 2).fill(0);
  const { buckets, pointBytes } = adder;
  const windows = Array.from({ length: end - first }, (_, k) => ({
    window: windowArguments(digits, first + k, low, width),
    at: starts + 4 * k * width,
  }));
  for (const { window, at } of windows) {
    buckets.countDigits(...window, at);
    yield;
  }
  const entries = buckets.sumCounts(starts, count);
  const row = adder.takeWords(entries);
  if (sums !== null) {
    const [all, beginnings] = [adder.words(row, entries), adder.words(starts + 4, count)];
    for (let b = 0; b < count; b++) all[(beginnings[b] as number)++] = sums + b * pointBytes;
  }
  for (const { window, at } of windows) {
    buckets.sortDigits(...window, at, row, points, pointBytes);
    yield;
  }
  return { row, starts, entries };
}

/**
 * Adds points to the sums of their buckets: pairs of points, then pairs of these sums, until one is
 * left.
 *
 * @param sums address of the sum of each bucket
 * @param isFirst whether the sums are new: their memory has any content then
 * @returns the number of digits that were not zero
 */
export function* addToBuckets(
  adder: PointAdder,
  entered: EnteredPoints,
  range: BucketRange,
  sums: PointAt,
  isFirst: boolean,
): Steps<number> {
  const { row, starts, entries } = yield* sortIntoBuckets(adder, entered, range, isFirst ? null : sums);
  const { pointBytes, list } = adder;
  const count = bucketsIn(range);
  const state = adder.takeWords(PAIR_STATE_BYTES / 4);
  const sizes = adder.takeWords(count);
  const beginnings = adder.words(starts, count + 1);
  const ownSizes = adder.words(sizes, count);
  for (let b = 0; b < count; b++) ownSizes[b] = (beginnings[b + 1] as number) - (beginnings[b] as number);
  const next = adder.mark;
  const inputs = { inputs: entered.points, inputBytes: entered.digits.count * pointBytes };
  const values = { row, starts, sizes, count, bucket: 0, pair: 0, open: 0, ...inputs, sums, next, list };
  for (const [name, at] of Object.entries(PAIR_STATE))
    adder.words(state + at, 1)[0] = values[name as keyof typeof PAIR_STATE];
  // a sum of two input points is new
  adder.take(entries >>> 1);
  while (adder.buckets.addPairs(state) !== 0) yield;
  if (!isFirst) return entries - count;
  const [all, first, left] = [adder.words(row, entries), adder.words(starts, count), adder.words(sizes, count)];
  for (let b = 0; b < count; b++) {
    const to = sums + b * pointBytes;
    if (left[b] === 0) adder.words(to, pointBytes / 4).fill(0);
    else if (all[first[b] as number] !== to) adder.add(to, INFINITY, all[first[b] as number] as number);
  }
  adder.flush();
  return entries;
}

/** Returns the addresses of sums of buckets; 0 for those of buckets without points. */
export const filledSums = (adder: PointAdder, sums: PointAt, count: number): Uint32Array => {
  const { pointBytes } = adder;
  const words = pointBytes / 4;
  const all = adder.words(sums, count * words);
  const filled = new Uint32Array(count);
  for (let b = 0; b < count; b++) {
    const end = (b + 1) * words;
    let word = b * words;
    while (word < end && all[word] === 0) word++;
    filled[b] = word < end ? sums + b * pointBytes : INFINITY;
  }
  return filled;
};

/** Queues P + Q, each of which may be infinity. @returns the address of the sum */
export const plus = (adder: PointAdder, P: PointAt, Q: PointAt): PointAt => {
  if (P === INFINITY) return Q;
  if (Q === INFINITY) return P;
  const to = adder.take(1);
  adder.add(to, P, Q);
  return to;
};
