/** Coordinates of points in two lanes: numbers, or pairs c0 + c1·u. */
import { range } from '../../field/straight-line.js';
import type { FloatField } from './float-field.js';
import { FloatLine } from './float-line.js';
import {
  type Addend,
  difference,
  type FloatNumber,
  limbBounds,
  multipleOf,
  type NumberPair,
  plainSum,
  SETTLED,
  signedBy,
  writeProducts,
  writeSum,
} from './float-products.js';
import type { LaneSource } from './lane-source.js';

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
  loadNumber(source: LaneSource, as: StoredAs = settled, offset = 0): Coordinate {
    return [this.#number(source, offset, as)];
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
    const low: NumberPair[] = [
      [a0, b0],
      [multipleOf(this.line, a1, this.#nonResidue), b1],
    ];
    if (a === b) return [low, [[multipleOf(this.line, a0, 2), a1]]];
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
      [multipleOf(this.line, a1 as FloatNumber, -this.#nonResidue), a1 as FloatNumber],
    ];
    return [writeProducts(this.line, factors, { settle: true })];
  }

  /** Returns (c0 − c1·u)·n for a number n. */
  conjugateTimes([a0, a1]: Coordinate, [n]: Coordinate): Coordinate {
    const times = (a: FloatNumber): FloatNumber => writeProducts(this.line, [[a, n as FloatNumber]], { settle: true });
    return [times(a0 as FloatNumber), times(multipleOf(this.line, a1 as FloatNumber, -1))];
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

  /** Returns a + b, not carried. */
  add(a: Coordinate, b: Coordinate): Coordinate {
    return a.map((number, c) => plainSum(this.line, number, b[c] as FloatNumber));
  }

  /** Returns a − b, not carried. */
  subtract(a: Coordinate, b: Coordinate): Coordinate {
    return a.map((number, c) => difference(this.line, number, b[c] as FloatNumber));
  }

  /** Returns factor·a, not carried. */
  times(a: Coordinate, factor: number): Coordinate {
    return a.map((number) => multipleOf(this.line, number, factor));
  }

  /** Returns ±a, negated in the lanes whose address has bit 0 set. */
  signed(a: Coordinate, of: LaneSource): Coordinate {
    const mask = this.line.sign(of);
    return a.map((number) => signedBy(this.line, number, mask));
  }
}
