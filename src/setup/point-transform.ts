/**
 * Multiples of points, and transforms: sums of points times powers of a root of unity. A layer multiplies half of its
 * points by roots of unity, many by the same one, and adds and subtracts them (Cooley and Tukey, Math.
 * Comp. 19, 1965).
 */
import type { CurveContext } from '../curves/curve.js';
import { endomorphismOf } from '../curves/halving.js';
import { scalarFieldOf } from '../curves/scalar-field.js';
import { power as raised, rootOfOrder } from '../field/powers.js';
import type { Run } from './run.js';

/** The size of a transform, and its numbers. */
export interface TransformShape {
  /** Logarithm of the number of points. */
  readonly power: number;
  /** A root of unity whose order is the number of points. */
  readonly root: bigint;
  /** Factor of all results. */
  readonly factor: bigint;
}

/** Returns first·step^i for i below `count`, modulo the order of a group. */
export const progression = (first: bigint, step: bigint, count: number, order: bigint): bigint[] => {
  let value = first;
  return Array.from({ length: count }, () => {
    const each = value;
    value = (value * step) % order;
    return each;
  });
};

/** Points that are multiplied by the elements of a progression. */
export interface Multiples {
  /** x‖y of each, little-endian. */
  readonly points: Uint32Array;
  /** Factor of their coordinates. */
  readonly scale: bigint;
  /** Results are written with their coordinates times each of these factors. */
  readonly scales: readonly bigint[];
  /** Index of the first point in the progression. */
  readonly from: number;
  /** The element of index 0. */
  readonly first: bigint;
  readonly step: bigint;
}

/**
 * Returns first·step^(from + i)·P_i.
 *
 * @param what the place of the points, for errors
 * @returns x‖y of the products, for each scale
 */
export const multiples = (
  run: Run,
  curve: CurveContext,
  { points, scale, scales, from, first, step }: Multiples,
  what: string,
): Promise<Uint32Array<ArrayBuffer>[]> => {
  const { order } = curve;
  const count = points.length / curve.pointWords;
  const starts = Uint32Array.from({ length: count + 1 }, (_, i) => i);
  const isOne = step === 1n;
  const multipliers = isOne
    ? [first]
    : progression((first * raised(step, BigInt(from), order)) % order, step, count, order);
  const which = isOne ? new Uint32Array(count) : starts.slice(0, count);
  return run.compute(curve, { points, scale, starts, which, multipliers, scales }, what);
};

/** Returns the root of unity whose order is n, a power of two. */
export const rootOf = (n: number, order: bigint): bigint => {
  const { rootOfUnity, twoAdicity } = scalarFieldOf({ order });
  return rootOfOrder({ p: order, twoAdicity, rootOfUnity: rootOfUnity as bigint }, n);
};

/** Returns the root of unity of twice the order of a domain: the odd places of that are its odd powers. */
export const oddRoot = (domainSize: number, order: bigint): bigint => rootOf(2 * domainSize, order);

/** Places of some blocks, and numbers for them: a progression, the same for each block. */
interface Places {
  /** Index of the first block, distance of the next one, and number of blocks. */
  readonly block: number;
  readonly stride: number;
  readonly blocks: number;
  /** First place in a block, and number of places. */
  readonly start: number;
  readonly count: number;
  /** Number of the first place, and factor of the next. */
  readonly first: bigint;
  readonly step: bigint;
}

/** Some of the places, in order. */
interface Spread {
  /** Indices of their points. */
  readonly at: Uint32Array;
  readonly which: Uint32Array;
  readonly multipliers: readonly bigint[];
}

/**
 * Returns places `from` to `to` of lists, each ordered by place, so that points with the same number are
 * neighbours.
 *
 * @param length points of a block
 */
const spread = (all: readonly Places[], length: number, from: number, to: number, order: bigint): Spread => {
  const [at, which] = [new Uint32Array(to - from), new Uint32Array(to - from)];
  const multipliers: bigint[] = [];
  let begin = 0;
  for (const { block, stride, blocks, start, count, first, step } of all) {
    const [low, high] = [Math.max(from, begin) - begin, Math.min(to, begin + blocks * count) - begin];
    if (low < high) {
      const isOne = step === 1n;
      const [place, last] = [Math.floor(low / blocks), Math.floor((high - 1) / blocks)];
      for (let i = low; i < high; i++) {
        const own = Math.floor(i / blocks);
        at[begin + i - from] = length * (block + stride * (i % blocks)) + start + own;
        which[begin + i - from] = multipliers.length + (isOne ? 0 : own - place);
      }
      const head = (first * raised(step, BigInt(place), order)) % order;
      multipliers.push(...progression(head, step, isOne ? 1 : 1 + last - place, order));
    }
    begin += blocks * count;
  }
  return { at, which, multipliers };
};

/**
 * A transform of 2^power points. Layer l combines the results A and B of blocks of h = 2^(l − 1) points in
 * pairs: the block at 0 as A ± factor·w^k·B, where A has the factor already, and all others as A ± w^k·B, so
 * that only one more multiplication a layer is needed for the factor.
 *
 * In G2 the square root i of −1 is a power of the endomorphism, and takes next to nothing. Two layers are there
 * one of four blocks with w of order 4h: (A ± w^(2k)·C) ± (w^k·B ± w^(3k)·D), and the latter times i where it is
 * a difference. That takes three multiplications for four points instead of four.
 */
export class PointTransform {
  readonly #curve: CurveContext;
  readonly #scale: bigint;
  readonly #shape: TransformShape;
  readonly #run: Run;

  /** @param scale factor of coordinates */
  constructor(curve: CurveContext, scale: bigint, shape: TransformShape, run: Run) {
    this.#curve = curve;
    this.#scale = scale;
    this.#shape = shape;
    this.#run = run;
  }

  /**
   * Returns factor·Σ_i root^(i·k)·P_i for each k.
   *
   * @param points x‖y of each, at least one; missing ones count as infinity
   * @param what the place of the points, for errors
   */
  async of(points: Uint32Array, what: string): Promise<Uint32Array<ArrayBuffer>> {
    const { pointWords } = this.#curve;
    const { power, factor } = this.#shape;
    const words = new Uint32Array(2 ** power * pointWords);
    for (let i = 0; i < points.length / pointWords; i++) {
      words.set(points.subarray(i * pointWords, (i + 1) * pointWords), reversed(i, power) * pointWords);
    }
    const one = { block: 0, stride: 1, blocks: 1, start: 0, count: 1 };
    await this.#multiply(words, [{ ...one, first: factor, step: 1n }], 1, what);
    const { parts } = endomorphismOf(this.#curve);
    for (let layer = 1; layer <= power; ) {
      const h = 2 ** (layer - 1);
      // the roots of the first two layers are 1 and i
      if (parts === 4 && layer > 2 && layer < power) {
        await this.#combineFour(words, h, what);
        layer += 2;
      } else {
        await this.#combine(words, this.#inBlocks(2 * h, { ...one, count: h }, this.#root(2 * h)), 2 * h, what);
        layer++;
      }
    }
    return words;
  }

  /** Returns the root of an order. */
  #root(order: number): bigint {
    return raised(this.#shape.root, BigInt(2 ** this.#shape.power / order), this.#curve.order);
  }

  /**
   * Returns places of all blocks of `length` points, or of each from a first one by a stride, with powers of a
   * root: times the factor in the first.
   */
  #inBlocks(length: number, first: Omit<Places, 'first' | 'step'>, root: bigint): Places[] {
    const { power, factor } = this.#shape;
    const others = { ...first, block: first.block + first.stride, blocks: 2 ** power / (length * first.stride) - 1 };
    return [
      { ...first, first: factor, step: root },
      { ...others, first: 1n, step: root },
    ];
  }

  /** Combines four blocks of h points each. */
  async #combineFour(words: Uint32Array, h: number, what: string): Promise<void> {
    const { order } = this.#curve;
    const root = this.#root(4 * h);
    const powerOf = (k: number): bigint => raised(root, BigInt(k), order);
    const one = { block: 0, stride: 1, blocks: 1, start: 0, count: h };
    // the blocks are A, C, B and D, as their indices have their bits reversed
    await this.#multiply(words, this.#inBlocks(4 * h, { ...one, start: 2 * h }, root), 4 * h, what);
    const [C, D] = [
      this.#inBlocks(2 * h, { ...one, stride: 2 }, powerOf(2)),
      this.#inBlocks(2 * h, { ...one, block: 1, stride: 2 }, powerOf(3)),
    ];
    await this.#combine(words, [...C, ...D], 2 * h, what);
    const all = { ...one, blocks: 2 ** this.#shape.power / (4 * h), step: 1n };
    const halves = [
      { ...all, first: 1n },
      { ...all, start: h, first: powerOf(h) },
    ];
    await this.#combine(words, halves, 4 * h, what);
  }

  /** Multiplies points in their places. */
  async #multiply(words: Uint32Array, all: readonly Places[], length: number, what: string): Promise<void> {
    const [scale, curve] = [this.#scale, this.#curve];
    await this.#run.inRounds(countOf(all), async (from, to) => {
      const { at, which, multipliers } = spread(all, length, from, to, curve.order);
      const starts = Uint32Array.from({ length: at.length + 1 }, (_, i) => i);
      const points = gathered(words, at, 0, curve.pointWords);
      const sums = { points, scale, starts, which, multipliers, scales: [scale] };
      const [products] = await this.#run.compute(curve, sums, what);
      scatter(words, at, curve.pointWords, products as Uint32Array);
    });
  }

  /** Combines places of blocks with the places half a block behind. */
  async #combine(words: Uint32Array, all: readonly Places[], length: number, what: string): Promise<void> {
    const [scale, curve] = [this.#scale, this.#curve];
    const { order, pointWords } = curve;
    await this.#run.inRounds(countOf(all), async (from, to) => {
      const { at, which, multipliers } = spread(all, length, from, to, order);
      const addends = gathered(words, at, 0, pointWords);
      const points = gathered(words, at, length / 2, pointWords);
      const sums = await this.#run.butterflies(curve, { points, addends, scale, which, multipliers }, what);
      const both = Uint32Array.from({ length: 2 * at.length }, (_, i) => {
        const first = at[i >> 1] as number;
        return i % 2 === 0 ? first : first + length / 2;
      });
      scatter(words, both, pointWords, sums);
    });
  }
}

const countOf = (all: readonly Places[]): number => all.reduce((sum, { blocks, count }) => sum + blocks * count, 0);

/** Returns the points at indices, or so many further on. */
const gathered = (words: Uint32Array, at: Uint32Array, offset: number, pointWords: number): Uint32Array => {
  const points = new Uint32Array(at.length * pointWords);
  for (const [i, index] of at.entries()) {
    const from = (index + offset) * pointWords;
    points.set(words.subarray(from, from + pointWords), i * pointWords);
  }
  return points;
};

/** Writes points to indices. */
const scatter = (words: Uint32Array, at: Uint32Array, pointWords: number, points: Uint32Array): void => {
  for (const [i, index] of at.entries()) {
    words.set(points.subarray(i * pointWords, (i + 1) * pointWords), index * pointWords);
  }
};

/** Returns an index with its bits reversed. */
const reversed = (index: number, bits: number): number => {
  let result = 0;
  for (let bit = 0; bit < bits; bit++) result = 2 * result + (Math.floor(index / 2 ** bit) % 2);
  return result;
};
