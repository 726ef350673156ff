/**
 * The parts of an affine addition that shares an inversion with others (Montgomery 1987, section
 * 10.3.1), on two additions side by side.
 */
import {
  type Coordinate,
  type CoordinateAddend,
  CoordinateLine,
  type StoredAs,
  settled,
  uncarried,
} from './coordinates.js';
import type { FloatField } from './float-field.js';
import { boundOfProducts } from './float-products.js';
import type { LaneSource } from './lane-source.js';

/** A point whose address has its sign in bit 0. */
export interface SignedPoint {
  /** Its address without the sign. */
  readonly at: LaneSource;
  readonly sign: LaneSource;
}

/** Where the state of a step is. */
export interface StepPlaces {
  /** Product of the denominators, or its inverse. */
  readonly running: LaneSource;
  readonly kept: LaneSource;
  readonly prefix: LaneSource;
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
    const slope = settle ? settled.most : boundOfProducts(field, inverse * uncarried.most) * ROUND_UP;
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
    const addends: CoordinateAddend[] = this.#a === null ? [] : [[c.load(this.#a), 1]];
    return c.signed(c.multiply(x, c.times(x, 3), addends, true), sign);
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
