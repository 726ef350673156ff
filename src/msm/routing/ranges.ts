/** Ranges of the scalars of a call, counted over all vectors, for calls that are divided. */
import type { AffinePoint, Coordinate } from '../../api/values.js';
import type { CurveContext } from '../../curves/curve.js';
import { addAffine, infinityOf, toAffine } from '../../curves/jacobian.js';
import type { ScalarVector } from '../inputs/scalar-vectors.js';
import { publicPoint } from '../stages/combine-windows.js';

/** Scalars [from, to), counted over all vectors. */
export interface ScalarRange {
  readonly from: number;
  readonly to: number;
}

/** The part of one vector that lies in a range. */
export interface VectorPart {
  /** Index of the vector. */
  readonly vector: number;
  readonly scalars: ScalarVector;
}

/** Vectors with less than this fraction of all scalars are not cut. */
const SHORT = 1 / 16;

/**
 * Returns a function from a scalar to the nearest permitted cut. Cuts are permitted anywhere in a
 * long vector, and between vectors.
 *
 * @param n number of scalars of all vectors
 */
export const cutsOf = (vectors: readonly ScalarVector[], n: number): ((at: number) => number) => {
  let end = 0;
  const ends = vectors.map((vector) => {
    end += vector.n;
    return end;
  });
  return (at) => {
    const v = ends.findIndex((each) => at < each);
    if (v === -1) return n;
    const [start, next] = [v === 0 ? 0 : (ends[v - 1] as number), ends[v] as number];
    if (next - start > SHORT * n) return at;
    return at - start < next - at ? start : next;
  };
};

/** Returns the parts of vectors that lie in a range. */
export const partsOf = (
  vectors: readonly ScalarVector[],
  scalarBytes: number,
  { from, to }: ScalarRange,
): VectorPart[] => {
  let start = 0;
  return vectors.flatMap(({ scalars, n, offset, loaded }, vector) => {
    const [first, last] = [Math.max(0, from - start), Math.min(n, to - start)];
    start += n;
    if (first >= last) return [];
    const own = scalars.subarray(first * scalarBytes, last * scalarBytes);
    const part = loaded?.part(first, last) ?? null;
    const cut = { scalars: own, n: last - first, offset: offset + first, loaded: part };
    return [{ vector, scalars: cut }];
  });
};

/** Adds up the sums of parts, by vector. */
export class PartialSums {
  readonly #curve: CurveContext;
  readonly #sums: ReturnType<typeof infinityOf>[];

  /** @param count number of vectors */
  constructor(curve: CurveContext, count: number) {
    this.#curve = curve;
    this.#sums = Array.from({ length: count }, () => infinityOf(curve));
  }

  add(parts: readonly VectorPart[], sums: readonly AffinePoint<Coordinate>[]): void {
    for (const [i, { vector }] of parts.entries()) {
      const { x, y, infinity } = sums[i] as AffinePoint<Coordinate>;
      const before = this.#sums[vector] as ReturnType<typeof infinityOf>;
      this.#sums[vector] = addAffine(this.#curve, before, infinity ? null : { x, y });
    }
  }

  points(): AffinePoint<Coordinate>[] {
    return this.#sums.map((sum) => publicPoint(this.#curve, toAffine(this.#curve, sum)));
  }
}
