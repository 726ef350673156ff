/**
 * Multiples of points, and transforms: sums of points times powers of a root of unity. A layer multiplies half of its
 * points by roots of unity, many by the same one, and adds and subtracts them (Cooley and Tukey, Math.
 * Comp. 19, 1965).
 */
import type { CurveContext } from '../curves/curve.js';
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

/** A transform of 2^power points. */
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
   * @param points x‖y of each; missing ones count as infinity
   * @param what the place of the points, for errors
   */
  async of(points: Uint32Array, what: string): Promise<Uint32Array<ArrayBuffer>> {
    const { pointWords } = this.#curve;
    const { power } = this.#shape;
    const n = 2 ** power;
    const words = new Uint32Array(n * pointWords);
    for (let i = 0; i < points.length / pointWords; i++) {
      words.set(points.subarray(i * pointWords, (i + 1) * pointWords), reversed(i, power) * pointWords);
    }
    for (let layer = 1; layer <= power; layer++) {
      // places of a round are consecutive, so that it is a power of two long
      const most = 2 ** Math.floor(Math.log2(this.#run.pointsPerRound));
      for (let from = 0; from < n / 2; from += most) {
        await this.#combine(words, layer, from, Math.min(n / 2, from + most), what);
      }
    }
    return words;
  }

  /**
   * Computes a ± w^k·b for pairs of a layer: pair j has the place k = j mod 2^(layer − 1) in its block
   * of twice as many points. The last layer multiplies by the factor, too.
   */
  async #combine(words: Uint32Array, layer: number, from: number, to: number, what: string): Promise<void> {
    const { pointWords, order } = this.#curve;
    const half = 2 ** (layer - 1);
    const count = to - from;
    const isLast = layer === this.#shape.power && this.#shape.factor !== 1n;
    const factor = isLast ? this.#shape.factor : 1n;
    // pairs of a round have all places, or consecutive ones
    const places = Math.min(half, count);
    const roots = this.#roots(2 * half, from % half, places, factor);
    const place = (j: number): number => Math.floor(j / half) * 2 * half + (j % half);
    const factors = isLast ? 2 * count : count;
    const points = new Uint32Array(factors * pointWords);
    const which = new Uint32Array(factors);
    const copy = (index: number, at: number): void => {
      points.set(words.subarray(at * pointWords, (at + 1) * pointWords), index * pointWords);
    };
    for (let i = 0; i < count; i++) {
      copy(i, place(from + i) + half);
      which[i] = i % places;
      if (!isLast) continue;
      copy(count + i, place(from + i));
      which[count + i] = places;
    }
    const starts = Uint32Array.from({ length: factors + 1 }, (_, i) => i);
    const multipliers = isLast ? [...roots, factor] : roots;
    const products = await this.#sums(points, starts, which, multipliers, what);
    const terms = new Uint32Array(4 * count * pointWords);
    const put = (index: number, from: Uint32Array, at: number): void => {
      terms.set(from.subarray(at * pointWords, (at + 1) * pointWords), index * pointWords);
    };
    for (let i = 0; i < count; i++) {
      for (const first of [4 * i, 4 * i + 2]) {
        if (isLast) put(first, products, count + i);
        else put(first, words, place(from + i));
        put(first + 1, products, i);
      }
    }
    const pairs = Uint32Array.from({ length: 2 * count + 1 }, (_, i) => 2 * i);
    const signs = Uint32Array.from({ length: 4 * count }, (_, i) => (i % 4 === 3 ? 1 : 0));
    const sums = await this.#sums(terms, pairs, signs, [1n, order - 1n], what);
    for (let i = 0; i < count; i++) {
      const at = place(from + i);
      words.set(sums.subarray(2 * i * pointWords, (2 * i + 1) * pointWords), at * pointWords);
      words.set(sums.subarray((2 * i + 1) * pointWords, (2 * i + 2) * pointWords), (at + half) * pointWords);
    }
  }

  /** Returns factor·w^k for consecutive k, with a root w of an order. */
  #roots(size: number, first: number, count: number, factor: bigint): bigint[] {
    const { order } = this.#curve;
    const { power, root } = this.#shape;
    const step = raised(root, BigInt(2 ** power / size), order);
    return progression((factor * raised(step, BigInt(first), order)) % order, step, count, order);
  }

  async #sums(
    points: Uint32Array,
    starts: Uint32Array,
    which: Uint32Array,
    multipliers: readonly bigint[],
    what: string,
  ): Promise<Uint32Array> {
    const sums = { points, scale: this.#scale, starts, which, multipliers, scales: [this.#scale] };
    const [words] = await this.#run.compute(this.#curve, sums, what);
    return words as Uint32Array;
  }
}

/** Returns an index with its bits reversed. */
const reversed = (index: number, bits: number): number => {
  let result = 0;
  for (let bit = 0; bit < bits; bit++) result = 2 * result + (Math.floor(index / 2 ** bit) % 2);
  return result;
};
