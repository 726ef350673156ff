/** Products of pairings, with which proofs are verified. Loaded by the first verification. */
import type { AffinePoint, Fp2 } from '../api/values.js';
import { nonAdjacentForm } from '../curves/jacobian.js';
// From the entry, so that the build leaves in index.js what the two share.
import { MsmError } from '../index.js';
import { TimeSlice } from '../scheduling/time-slice.js';
import { conjugate, Extension, type Fp12, ONE, sparse } from './extension.js';

/** A point of G1 and one of G2, both in the group of order r. */
export type PointPair = readonly [AffinePoint, AffinePoint<Fp2>];

/**
 * Returns the product of the pairings of some pairs, with one final exponentiation for all. Lets
 * the event loop run every 8 ms.
 *
 * @throws MsmError `aborted` by the signal
 */
export const pairingProduct = async (
  name: PairingCurveName,
  pairs: readonly PointPair[],
  signal: AbortSignal | undefined,
): Promise<Fp12> => {
  const curve = pairingCurve(name);
  const slice = new TimeSlice(() => {
    if (signal?.aborted) throw new MsmError('aborted', 'the verification was aborted', { cause: signal.reason });
  });
  const finite = pairs.filter(([p, q]) => !p.infinity && !q.infinity).map(([p, q]) => ({ p, q }));
  const value = await millerLoop(curve, finite, slice);
  const paired = await finalExponentiation(curve, value, slice);
  // the loop goes through |x|, and the value for −x is the inverse
  return curve.family === 'bls12' && curve.seed < 0n ? conjugate(paired) : paired;
};

/** Returns whether the product of some pairings is 1. @throws MsmError `aborted` by the signal */
export const isProductOne = async (...given: Parameters<typeof pairingProduct>): Promise<boolean> =>
  pairingCurve(given[0]).field.isOne(await pairingProduct(...given));

/*
 * The pairing-friendly curves of proofs: members of families, whose primes are polynomials of one
 * seed. Sources: Barreto and Naehrig 2005 (https://eprint.iacr.org/2005/133); Barreto, Lynn and
 * Scott 2002 (https://eprint.iacr.org/2002/088). The seeds are those of src/curves/.
 */

export type PairingCurveName = 'bn254' | 'bls12-381';

interface PairingCurve {
  readonly family: 'bn' | 'bls12';
  readonly seed: bigint;
  readonly field: Extension;
  /** Number that the Miller loop goes through: that of Vercauteren for the family. */
  readonly loop: bigint;
  /**
   * Exponents of w of the parts of a line: of y(P), of the slope times −x(P), and of the rest. They
   * follow from the twist: (x, y) on it is (x·w², y·w³) on the curve, or (x/w², y/w³).
   */
  readonly lineAt: readonly [number, number, number];
}

interface Constants {
  readonly family: PairingCurve['family'];
  readonly seed: bigint;
  readonly xi: Fp2;
}

const constants: Readonly<Record<PairingCurveName, Constants>> = {
  bn254: { family: 'bn', seed: 4965661367192848881n, xi: { c0: 9n, c1: 1n } },
  'bls12-381': { family: 'bls12', seed: -0xd201000000010000n, xi: { c0: 1n, c1: 1n } },
};

const made = /* @__PURE__ */ new Map<PairingCurveName, PairingCurve>();

const make = ({ family, seed: x, xi }: Constants): PairingCurve =>
  family === 'bn'
    ? {
        ...{ family, seed: x, loop: 6n * x + 2n, lineAt: [0, 1, 3] },
        field: new Extension(36n * x ** 4n + 36n * x ** 3n + 24n * x ** 2n + 6n * x + 1n, xi),
      }
    : {
        // times w³, which the final exponentiation takes to 1
        ...{ family, seed: x, loop: x < 0n ? -x : x, lineAt: [3, 2, 0] },
        field: new Extension(((x - 1n) ** 2n * (x ** 4n - x ** 2n + 1n)) / 3n + x, xi),
      };

export const pairingCurve = (name: PairingCurveName): PairingCurve => {
  const curve = made.get(name) ?? make(constants[name]);
  made.set(name, curve);
  return curve;
};

/*
 * The Miller loop of optimal ate pairings: Vercauteren, "Optimal pairings"
 * (https://eprint.iacr.org/2008/096), section IV; for BN curves Beuchat et al. 2010
 * (https://eprint.iacr.org/2010/354), algorithm 1. Lines are affine: all pairs of a product share
 * one inversion a step, by which these are cheaper than projective ones with numbers of JavaScript.
 */

/** A point of G1 or G2, not infinity. */
interface Point<Of> {
  readonly x: Of;
  readonly y: Of;
}

/** Two points that are paired. */
interface Pair {
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
const millerLoop = async (curve: PairingCurve, pairs: readonly Pair[], slice: TimeSlice): Promise<Fp12> => {
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

/* The final exponentiation of pairings, by a multiple of (p¹² − 1)/r that r does not divide. */

/** The subgroup of order p⁴ − p² + 1, in which the conjugate is the inverse. */
class Subgroup {
  readonly #curve: PairingCurve;
  readonly #slice: TimeSlice;

  constructor(curve: PairingCurve, slice: TimeSlice) {
    this.#curve = curve;
    this.#slice = slice;
  }

  product(...factors: readonly Fp12[]): Fp12 {
    return factors.reduce((all, each) => this.#curve.field.product(all, each));
  }

  frobenius(a: Fp12, times: number): Fp12 {
    return this.#curve.field.frobenius(a, times);
  }

  /** Returns a to the power of an exponent that is not 0. */
  async power(a: Fp12, exponent: bigint): Promise<Fp12> {
    const { field } = this.#curve;
    const negative = conjugate(a);
    const [, ...digits] = nonAdjacentForm(exponent < 0n ? -exponent : exponent);
    let result = a;
    for (const digit of digits) {
      result = field.square(result);
      if (digit !== 0) result = field.product(result, digit === 1 ? a : negative);
      if (this.#slice.isOver) await this.#slice.yield();
    }
    return exponent < 0n ? conjugate(result) : result;
  }
}

/**
 * Returns f to the power 2x·(6x² + 3x + 1)·(p⁴ − p² + 1)/r: Fuentes-Castañeda, Knapp and
 * Rodríguez-Henríquez, "Faster hashing to G2" (SAC 2011), section 5.
 */
const ofBn = async (group: Subgroup, f: Fp12, x: bigint): Promise<Fp12> => {
  const x2 = await group.power(f, 2n * x);
  const x6 = group.product(x2, x2, x2);
  const xx6 = await group.power(x6, x);
  const xxx12 = await group.power(group.product(xx6, xx6), x);
  const a = group.product(xxx12, xx6, x6);
  const b = group.product(a, conjugate(x2));
  return group.product(
    group.product(a, xx6, f),
    group.frobenius(b, 1),
    group.frobenius(a, 2),
    group.frobenius(group.product(b, conjugate(f)), 3),
  );
};

/**
 * Returns f to the power 3·(p⁴ − p² + 1)/r = (x − 1)²·(x + p)·(x² + p² − 1) + 3: Hayashida,
 * Hayasaka and Teruya, https://eprint.iacr.org/2020/875, section 4.
 */
const ofBls12 = async (group: Subgroup, f: Fp12, x: bigint): Promise<Fp12> => {
  const first = await group.power(await group.power(f, x - 1n), x - 1n);
  const second = group.product(await group.power(first, x), group.frobenius(first, 1));
  const third = group.product(
    await group.power(await group.power(second, x), x),
    group.frobenius(second, 2),
    conjugate(second),
  );
  return group.product(third, f, f, f);
};

/** Returns a value of a pairing from a product of Miller functions. */
const finalExponentiation = async (curve: PairingCurve, value: Fp12, slice: TimeSlice): Promise<Fp12> => {
  const { field, family, seed } = curve;
  // to the power (p⁶ − 1)·(p² + 1)
  const easy = field.product(conjugate(value), field.inverse(value));
  const inSubgroup = field.product(field.frobenius(easy, 2), easy);
  return (family === 'bn' ? ofBn : ofBls12)(new Subgroup(curve, slice), inSubgroup, seed);
};
