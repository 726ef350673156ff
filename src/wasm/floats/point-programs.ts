/**
 * The parts of an affine addition that shares an inversion with others (Montgomery 1987, section
 * 10.3.1), on two additions side by side.
 */

import { range } from '../../field/straight-line.js';
import type { FloatField } from './float-field.js';
import { FloatLine, type FloatValue, type LaneSource } from './float-line.js';
import {
  type Addend,
  boundOfProducts,
  type FloatNumber,
  limbBounds,
  type NumberPair,
  SETTLED,
  writeProducts,
  writeSum,
} from './float-products.js';

/** A point whose address has its sign in bit 0. */
export interface SignedPoint {
  /** Its address without the sign. */
  readonly at: LaneSource;
  readonly sign: LaneSource;
}

/** Room for the rounding of bounds of products, which grows with each product. */
const ROUND_UP = 1 + 2 ** -20;

/**
 * Returns the bound of a product that is multiplied by differences: the bound b·x + c of a product
 * with x is at most x.
 */
const boundOfRunning = (field: FloatField): number => {
  const least = boundOfProducts(field, 0);
  const factor = boundOfProducts(field, uncarried.most) - least;
  return Math.max(settled.most, (least / (1 - factor)) * ROUND_UP);
};

/** Writes the parts for one field. */
export class PointPrograms {
  readonly field: FloatField;
  readonly #nonResidue: number;
  /** Address of the coefficient a of the curve; null if it is 0. */
  readonly #a: LaneSource | null;
  /** Whether products are settled that need not be where the field leaves room. */
  readonly #settle: boolean;
  /** Bounds of a running product. */
  readonly running: StoredAs;
  /** Bounds of a slope. */
  readonly slopes: StoredAs;

  constructor(field: FloatField, nonResidue: number, a: LaneSource | null, settle: boolean) {
    this.field = field;
    this.#nonResidue = nonResidue;
    this.#a = a;
    this.#settle = settle;
    const running = settle ? settled.most : boundOfRunning(field);
    const inverse = boundOfProducts(field, running ** 2);
    const numerator = Math.max(uncarried.most, a === null ? 3 * settled.most : settled.most);
    const slope = settle ? settled.most : boundOfProducts(field, inverse * numerator) * ROUND_UP;
    this.running = { most: running, terms: 1 };
    this.slopes = { most: slope, terms: 1 };
  }

  begin(prefix?: string): CoordinateLine {
    return new CoordinateLine(this.field, this.#nonResidue, prefix);
  }

  /** Returns running·factor. */
  advance(c: CoordinateLine, running: Coordinate, factor: Coordinate): Coordinate {
    return c.multiply(running, factor, [], this.#settle);
  }

  /** Returns the denominator x2 − x1. */
  denominator(c: CoordinateLine, P: LaneSource, Q: LaneSource): Coordinate {
    return c.subtract(c.load(Q), c.load(P));
  }

  /** Returns the denominator 2·y1. */
  tangentDenominator(c: CoordinateLine, P: LaneSource): Coordinate {
    return c.times(c.load(P, settled, this.#y), 2);
  }

  get #y(): number {
    return this.field.degree * this.field.bytes;
  }

  /** Returns ±y of a point. */
  ordinate(c: CoordinateLine, { at, sign }: SignedPoint): Coordinate {
    return c.signed(c.load(at, settled, this.#y), sign);
  }

  /** Returns the numerator ±y2 ∓ y1. */
  numerator(c: CoordinateLine, P: SignedPoint, Q: SignedPoint): Coordinate {
    return c.subtract(this.ordinate(c, Q), this.ordinate(c, P));
  }

  /** Returns the numerator ±(3·x1² + a). */
  tangentNumerator(c: CoordinateLine, { at, sign }: SignedPoint): Coordinate {
    const x = c.load(at);
    // a square takes fewer products of limbs, but three times that and a are too long for a factor
    if (this.#a === null) return c.signed(c.times(c.multiply(x, x, [], true), 3), sign);
    return c.signed(c.multiply(x, c.times(x, 3), [[c.load(this.#a), 1]], true), sign);
  }

  /** Returns the slope and the next running product, which waits for nothing. */
  slopeAndNext(
    c: CoordinateLine,
    running: Coordinate,
    prefix: Coordinate,
    load: { readonly kept: () => Coordinate; readonly numerator: () => Coordinate },
  ): [Coordinate, Coordinate] {
    const inverse = c.multiply(running, prefix, [], this.#settle);
    const next = this.advance(c, running, load.kept());
    return [c.multiply(inverse, load.numerator(), [], this.#settle), next];
  }

  #finish(
    c: CoordinateLine,
    slope: Coordinate,
    x1: Coordinate,
    x2: Coordinate,
    y1: Coordinate,
  ): [Coordinate, Coordinate] {
    const x = c.multiply(
      slope,
      slope,
      [
        [x1, -1],
        [x2, -1],
      ],
      true,
    );
    return [x, c.multiply(slope, c.subtract(x1, x), [[y1, -1]], true)];
  }

  /** Writes the sum from its slope. */
  finish(c: CoordinateLine, slope: Coordinate, to: LaneSource, P: SignedPoint, Q: LaneSource): void {
    const [x, y] = this.#finish(c, slope, c.load(P.at), c.load(Q), this.ordinate(c, P));
    c.store(to, x);
    c.store(to, y, settled, this.#y);
  }

  /** Returns x·(x² + a) + b − y², settled: 0 for points on the curve. */
  residue(c: CoordinateLine, point: LaneSource, b: LaneSource): Coordinate {
    const x = c.load(point);
    const y = c.load(point, settled, this.#y);
    const a: CoordinateAddend[] = this.#a === null ? [] : [[c.load(this.#a), 1]];
    const square = c.multiply(x, x, a, true);
    return c.products(
      [
        [x, square],
        [y, c.times(y, -1)],
      ],
      [[c.load(b), 1]],
      true,
    );
  }
}

/* Coordinates of points in two lanes: numbers, or pairs c0 + c1·u. */

/** Coefficients of a coordinate, one or two. */
export type Coordinate = readonly FloatNumber[];

/** An addend, and its sign. */
export type CoordinateAddend = readonly [Coordinate, 1 | -1];

/** Bounds of a coordinate in memory. */
export interface StoredAs {
  /** Absolute value at most, in units of p. */
  readonly most: number;
  /** Sums of so many carried limbs. */
  readonly terms: number;
}

/** A coordinate of a point, or another settled number. */
export const settled: StoredAs = { most: SETTLED, terms: 1 };

/** A difference or a double of coordinates, whose limbs are not carried. */
export const uncarried: StoredAs = { most: 2 * SETTLED, terms: 2 };

/** Writes computations on coordinates. */
export class CoordinateLine {
  readonly line: FloatLine;
  readonly #field: FloatField;
  readonly #nonResidue: number;

  /** @param nonResidue u² of a field of pairs */
  constructor(field: FloatField, nonResidue: number, prefix?: string) {
    this.line = new FloatLine(field, prefix);
    this.#field = field;
    this.#nonResidue = nonResidue;
  }

  #number(source: LaneSource, offset: number, { most, terms }: StoredAs): FloatNumber {
    const limbs = limbBounds(this.#field, most, terms).map((bound, i) => this.line.load(source, offset + 8 * i, bound));
    return { limbs, most };
  }

  /** Loads a coordinate. @param offset bytes from the address in each lane */
  load(source: LaneSource, as: StoredAs = settled, offset = 0): Coordinate {
    const { degree, bytes } = this.#field;
    return range(degree).map((c) => this.#number(source, offset + c * bytes, as));
  }

  /** Returns a coordinate whose limbs are values from outside, `prefix` and a number. */
  given(prefix: string, as: StoredAs): Coordinate {
    const bounds = limbBounds(this.#field, as.most, as.terms);
    return range(this.#field.degree).map((c) => ({
      limbs: bounds.map((most, i) => ({ name: `${prefix}${c * bounds.length + i}`, most })),
      most: as.most,
    }));
  }

  /** Loads one number of the prime field. */
  loadNumber(source: LaneSource, as: StoredAs): Coordinate {
    return [this.#number(source, 0, as)];
  }

  /** Fails unless a coordinate is within the bounds that its users will assume. */
  assertWithin(coordinate: Coordinate, as: StoredAs): void {
    const bounds = limbBounds(this.#field, as.most, as.terms);
    for (const number of coordinate) {
      if (number.most > as.most) throw new RangeError(`a number of ${number.most}·p is used as one of ${as.most}·p`);
      for (const [i, limb] of number.limbs.entries()) {
        if (limb.most > (bounds[i] as number)) throw new RangeError(`'${limb.name}' is longer than its users assume`);
      }
    }
  }

  /** Stores a coordinate, in the bounds that loads will assume. */
  store(to: LaneSource, coordinate: Coordinate, as: StoredAs = settled, offset = 0): void {
    this.assertWithin(coordinate, as);
    for (const [c, number] of coordinate.entries()) {
      const from = offset + c * this.#field.bytes;
      for (const [i, limb] of number.limbs.entries()) this.line.store(to, from + 8 * i, limb);
    }
  }

  /** Returns a·b + Σ ±addend; a square if both are the same. */
  multiply(a: Coordinate, b: Coordinate, addends: readonly CoordinateAddend[], settle: boolean): Coordinate {
    return this.products([[a, b]], addends, settle);
  }

  /** Returns Σ a·b + Σ ±addend. */
  products(
    all: readonly (readonly [Coordinate, Coordinate])[],
    addends: readonly CoordinateAddend[],
    settle: boolean,
  ): Coordinate {
    const degree = all[0]?.[0].length ?? 1;
    const terms = all.map(([a, b]) => this.#pairsOf(a, b));
    return range(degree).map((c) => {
      const own = addends.map(([number, sign]): Addend => [number[c] as FloatNumber, sign]);
      return writeProducts(
        this.line,
        terms.flatMap((term) => term[c] as NumberPair[]),
        { addends: own, settle },
      );
    });
  }

  /** Returns the products whose sum is each coefficient of a·b. */
  #pairsOf(a: Coordinate, b: Coordinate): readonly (readonly NumberPair[])[] {
    const [a0, a1] = a as readonly [FloatNumber, FloatNumber?];
    const [b0, b1] = b as readonly [FloatNumber, FloatNumber?];
    if (a1 === undefined || b1 === undefined) return [[[a0, b0]]];
    if (a === b && this.#nonResidue === -1) {
      // (a0 + a1)·(a0 − a1)
      const [[sum], [difference]] = [this.add([a0], [a1]), this.subtract([a0], [a1])];
      return [[[sum as FloatNumber, difference as FloatNumber]], [[this.#multiple(a0, 2), a1]]];
    }
    const low: NumberPair[] = [
      [a0, b0],
      [this.#multiple(a1, this.#nonResidue), b1],
    ];
    if (a === b) return [low, [[this.#multiple(a0, 2), a1]]];
    return [
      low,
      [
        [a0, b1],
        [a1, b0],
      ],
    ];
  }

  /** Returns the norm c0² − u²·c1² of a pair. */
  norm([a0, a1]: Coordinate): Coordinate {
    const factors: NumberPair[] = [
      [a0 as FloatNumber, a0 as FloatNumber],
      [this.#multiple(a1 as FloatNumber, -this.#nonResidue), a1 as FloatNumber],
    ];
    return [writeProducts(this.line, factors, { settle: true })];
  }

  /** Returns (c0 − c1·u)·n for a number n. */
  conjugateTimes([a0, a1]: Coordinate, [n]: Coordinate): Coordinate {
    const times = (a: FloatNumber): FloatNumber => writeProducts(this.line, [[a, n as FloatNumber]], { settle: true });
    return [times(a0 as FloatNumber), times(this.#multiple(a1 as FloatNumber, -1))];
  }

  /** Returns c0 − c1·u of a pair; a number of the prime field as it is. */
  conjugate([a0, a1]: Coordinate): Coordinate {
    return a1 === undefined ? [a0 as FloatNumber] : [a0 as FloatNumber, this.#multiple(a1, -1)];
  }

  /** Returns Σ ±addend, settled. */
  sum(addends: readonly CoordinateAddend[]): Coordinate {
    const degree = addends[0]?.[0].length ?? 1;
    return range(degree).map((c) =>
      writeSum(
        this.line,
        addends.map(([number, sign]): Addend => [number[c] as FloatNumber, sign]),
      ),
    );
  }

  #limbByLimb(a: Coordinate, b: Coordinate, of: (x: FloatValue, y: FloatValue) => FloatValue): Coordinate {
    return a.map(({ limbs, most }, c) => {
      const other = b[c] as FloatNumber;
      return { limbs: limbs.map((limb, i) => of(limb, other.limbs[i] as FloatValue)), most: most + other.most };
    });
  }

  #multiple({ limbs, most }: FloatNumber, factor: number): FloatNumber {
    return { limbs: limbs.map((limb) => this.line.times(limb, factor)), most: Math.abs(factor) * most };
  }

  /** Returns a + b, not carried. */
  add(a: Coordinate, b: Coordinate): Coordinate {
    return this.#limbByLimb(a, b, (x, y) => this.line.add(x, y));
  }

  /** Returns a − b, not carried. */
  subtract(a: Coordinate, b: Coordinate): Coordinate {
    return this.#limbByLimb(a, b, (x, y) => this.line.subtract(x, y));
  }

  /** Returns factor·a, not carried. */
  times(a: Coordinate, factor: number): Coordinate {
    return a.map((number) => this.#multiple(number, factor));
  }

  /** Returns ±a, negated in the lanes whose address has bit 0 set. */
  signed(a: Coordinate, of: LaneSource): Coordinate {
    const mask = this.line.sign(of);
    return a.map(({ limbs, most }) => ({ limbs: limbs.map((limb) => this.line.signed(limb, mask)), most }));
  }
}
