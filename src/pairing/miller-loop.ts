/**
 * The Miller loop of optimal ate pairings: Vercauteren, "Optimal pairings"
 * (https://eprint.iacr.org/2008/096), section IV; for BN curves Beuchat et al. 2010
 * (https://eprint.iacr.org/2010/354), algorithm 1. Lines are affine: all pairs of a product share
 * one inversion a step, by which these are cheaper than projective ones with numbers of JavaScript.
 */
import type { Fp2 } from '../api/values.js';
import { nonAdjacentForm } from '../curves/membership.js';
import type { TimeSlice } from '../scheduling/time-slice.js';
import { type Extension, type Fp12, ONE, sparse } from './extension.js';
import type { PairingCurve } from './pairing-curves.js';

/** A point of G1 or G2, not infinity. */
interface Point<Of> {
  readonly x: Of;
  readonly y: Of;
}

/** Two points that are paired. */
export interface Pair {
  readonly p: Point<bigint>;
  readonly q: Point<Fp2>;
}

/** Inverts all values with one inversion (Montgomery 1987, section 10.3.1). */
const inverses = ({ pairs: f }: Extension, values: readonly Fp2[]): Fp2[] => {
  const before: Fp2[] = [];
  let product = f.one as Fp2;
  for (const value of values) {
    before.push(product);
    product = f.product(product, value) as Fp2;
  }
  let rest = f.inverse(product);
  const inverted = values.map(() => rest as Fp2);
  for (let i = values.length - 1; i >= 0; i--) {
    inverted[i] = f.product(rest, before[i] as Fp2) as Fp2;
    rest = f.product(rest, values[i] as Fp2);
  }
  return inverted;
};

/** A product of Miller functions on the way, and a multiple of each point Q. */
class MillerLoop {
  value: Fp12 = ONE;
  readonly #curve: PairingCurve;
  readonly #pairs: readonly Pair[];
  #multiples: readonly Point<Fp2>[];

  constructor(curve: PairingCurve, pairs: readonly Pair[]) {
    this.#curve = curve;
    this.#pairs = pairs;
    this.#multiples = pairs.map(({ q }) => q);
  }

  /**
   * Multiplies the value by the lines of some slopes through the multiples, and moves these to the
   * third point of each line, negated.
   */
  #draw(slopes: readonly Fp2[], others: readonly Point<Fp2>[]): void {
    const { field, lineAt } = this.#curve;
    const { pairs: f } = field;
    const [ofY, ofSlope, ofRest] = lineAt;
    this.#multiples = this.#multiples.map(({ x, y }, i) => {
      const slope = slopes[i] as Fp2;
      const { p } = this.#pairs[i] as Pair;
      const line = sparse({
        [ofY]: { c0: p.y, c1: 0n },
        [ofSlope]: f.multiple(slope, -p.x) as Fp2,
        [ofRest]: f.difference(f.product(slope, x), y) as Fp2,
      });
      this.value = field.product(this.value, line);
      const third = f.difference(f.difference(f.product(slope, slope), x), (others[i] as Point<Fp2>).x);
      const x3 = f.reduced(third) as Fp2;
      return { x: x3, y: f.reduced(f.difference(f.product(slope, f.difference(x, x3)), y)) as Fp2 };
    });
  }

  double(): void {
    const { field } = this.#curve;
    const { pairs: f } = field;
    this.value = field.square(this.value);
    const below = inverses(
      field,
      this.#multiples.map(({ y }) => f.multiple(y, 2n) as Fp2),
    );
    const slopes = this.#multiples.map(
      ({ x }, i) => f.product(f.multiple(f.product(x, x), 3n), below[i] as Fp2) as Fp2,
    );
    this.#draw(slopes, this.#multiples);
  }

  /** Adds a point to each multiple, which must be neither that point nor its negative. */
  add(points: readonly Point<Fp2>[]): void {
    const { field } = this.#curve;
    const { pairs: f } = field;
    const below = inverses(
      field,
      this.#multiples.map(({ x }, i) => f.difference((points[i] as Point<Fp2>).x, x) as Fp2),
    );
    const slopes = this.#multiples.map(
      ({ y }, i) => f.product(f.difference((points[i] as Point<Fp2>).y, y), below[i] as Fp2) as Fp2,
    );
    this.#draw(slopes, points);
  }
}

/** Returns the Frobenius endomorphism of the twist x³ + b/ξ of BN curves. */
const twistedFrobenius =
  ({ pairs: f, frobeniusFactors }: Extension) =>
  ({ x, y }: Point<Fp2>): Point<Fp2> => {
    const image = ({ c0, c1 }: Fp2, i: number): Fp2 =>
      f.reduced(f.product({ c0, c1: -c1 }, frobeniusFactors[i] as Fp2)) as Fp2;
    return { x: image(x, 2), y: image(y, 3) };
  };

/**
 * Returns the product of the Miller functions of some pairs.
 *
 * @param pairs points of the groups of order r, which is not checked
 */
export const millerLoop = async (curve: PairingCurve, pairs: readonly Pair[], slice: TimeSlice): Promise<Fp12> => {
  const { field } = curve;
  const negative = ({ x, y }: Point<Fp2>): Point<Fp2> => ({ x, y: field.pairs.multiple(y, -1n) as Fp2 });
  const loop = new MillerLoop(curve, pairs);
  const points = pairs.map(({ q }) => q);
  const negatives = points.map(negative);
  for (const digit of nonAdjacentForm(curve.loop).slice(1)) {
    loop.double();
    if (digit !== 0) loop.add(digit === 1 ? points : negatives);
    if (slice.isOver) await slice.yield();
  }
  if (curve.family === 'bn') {
    const images = points.map(twistedFrobenius(field));
    loop.add(images);
    loop.add(images.map(twistedFrobenius(field)).map(negative));
  }
  return loop.value;
};
