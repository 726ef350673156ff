/**
 * Multiples on curves y² = x³ + b by shorter scalars. In G1 and in G2 by scalars of half the length:
 * k·P = k₁·P + k₂·φ(P) with the endomorphism φ(x, y) = (β·x, y), which is multiplication by λ (Gallant,
 * Lambert, Vanstone 2001). In G2 by scalars of a quarter of the length, with the Frobenius endomorphism ψ
 * of the twist and its powers (Galbraith, Lin, Scott, EUROCRYPT 2009).
 */
import type { Coordinate } from '../api/values.js';
import { mod } from '../field/modulus.js';
import { power } from '../field/powers.js';
import type { CurveContext } from './curve.js';
import { multiply, toAffine } from './jacobian.js';

/** The endomorphism of a group, and how it halves scalars. */
interface Halving {
  /** A root of unity of order 3 modulo p. */
  readonly beta: bigint;
  /**
   * Returns k₁ and k₂, at most half as long as the order, with k = k₁ + λ·k₂ modulo the order.
   *
   * @param k from 0 to the order
   */
  split(k: bigint): readonly [bigint, bigint];
}

/** Returns a root of unity of order 3. @param prime 1 modulo 3 */
const cubeRootOfOne = (prime: bigint): bigint => {
  for (let base = 2n; ; base++) {
    const root = power(base, (prime - 1n) / 3n, prime);
    if (root !== 1n) return root;
  }
};

/** Returns the integer nearest to a/b. @param b above 0 */
const nearest = (a: bigint, b: bigint): bigint => {
  const twice = 2n * a + b;
  return (twice - mod(twice, 2n * b)) / (2n * b);
};

/** Returns an integer nearest to a multiple k·a/b. */
type Rounded = (k: bigint) => bigint;

/**
 * Returns what rounds multiples of a/b, by products with a fraction of a power of two: they are less than 2^−64 off
 * before they are rounded.
 *
 * @param b above each k
 */
const roundedBy = (a: bigint, b: bigint): Rounded => {
  const bits = BigInt(b.toString(2).length + 64);
  const factor = nearest(a << bits, b);
  const half = 1n << (bits - 1n);
  return (k) => (factor * k + half) >> bits;
};

/**
 * Returns two short vectors (a, b) with a + λ·b = 0 modulo r, by the extended Euclidean algorithm:
 * the first remainder below √r, and the shorter one of its neighbours.
 */
const shortVectors = (r: bigint, lambda: bigint): readonly (readonly [bigint, bigint])[] => {
  const steps: (readonly [remainder: bigint, factor: bigint])[] = [
    [r, 0n],
    [lambda, 1n],
  ];
  const last = (k: number): readonly [bigint, bigint] => steps[steps.length - k] as readonly [bigint, bigint];
  const next = (): void => {
    const [[before, t], [now, s]] = [last(2), last(1)];
    const quotient = before / now;
    steps.push([before - quotient * now, t - quotient * s]);
  };
  while (last(1)[0] ** 2n >= r) next();
  next();
  const [[a0, t0], [a1, t1], [a2, t2]] = [last(3), last(2), last(1)];
  const second = a0 ** 2n + t0 ** 2n < a2 ** 2n + t2 ** 2n ? ([a0, -t0] as const) : ([a2, -t2] as const);
  return [[a1, -t1], second];
};

const known = new WeakMap<object, Halving>();

/** Computes the halving of a group with a = 0, whose order and prime are 1 modulo 3. */
const compute = (curve: CurveContext): Halving => {
  const { coordinates: f, p, order: r, generator } = curve;
  const lambda = cubeRootOfOne(r);
  const image = toAffine(curve, multiply(curve, lambda, generator));
  const root = cubeRootOfOne(p);
  const isImage = (beta: bigint): boolean =>
    image !== null && f.isZero(f.difference(f.multiple(generator.x, beta), image.x));
  const beta = isImage(root) ? root : (root * root) % p;
  const [[a1, b1], [a2, b2]] = shortVectors(r, lambda) as [readonly [bigint, bigint], readonly [bigint, bigint]];
  const sign = a1 * b2 - a2 * b1 > 0n ? 1n : -1n;
  // k·(1, 0) in the basis of both vectors
  const [first, second] = [roundedBy(sign * b2, r), roundedBy(-sign * b1, r)];
  return {
    beta,
    split(k) {
      const [c1, c2] = [first(k), second(k)];
      return [k - c1 * a1 - c2 * a2, -c1 * b1 - c2 * b2];
    },
  };
};

/**
 * Returns the halving of G1 or G2 of BN254 or of a BLS12 curve.
 *
 * The image is the multiple only in the group of order r: other points of the curve have others.
 */
export const halvingOf = (curve: CurveContext): Halving => {
  const found = known.get(curve.constants) ?? compute(curve);
  known.set(curve.constants, found);
  return found;
};

/** An endomorphism of a group, and how scalars are split into parts. */
export interface Endomorphism {
  /** The image of (x, y) is (x·X, y·Y) with these X and Y, where pairs x and y are conjugated first. */
  readonly factors: { readonly x: Coordinate; readonly y: Coordinate };
  /** Number of parts. */
  readonly parts: 2 | 4;
  /**
   * Returns the parts k₀, k₁, … with k = Σ λ^i·kᵢ modulo the order, where the endomorphism is
   * multiplication by λ.
   *
   * @param k from 0 to the order
   */
  split(k: bigint): readonly bigint[];
}

/** A number a₀ + a₁·ζ + a₂·ζ² + a₃·ζ³ with ζ⁴ = ζ² − 1, so that ζ is a root of unity of order 12. */
type Cyclotomic = readonly [bigint, bigint, bigint, bigint];

const timesZeta = ([a, b, c, d]: Cyclotomic): Cyclotomic => [-d, a, b + d, c];

/** Returns x·y. */
const cyclotomicProduct = ([a, b, c, d]: Cyclotomic, y: Cyclotomic): Cyclotomic => {
  const y1 = timesZeta(y);
  const y2 = timesZeta(y1);
  const y3 = timesZeta(y2);
  return [
    a * y[0] + b * y1[0] + c * y2[0] + d * y3[0],
    a * y[1] + b * y1[1] + c * y2[1] + d * y3[1],
    a * y[2] + b * y1[2] + c * y2[2] + d * y3[2],
    a * y[3] + b * y1[3] + c * y2[3] + d * y3[3],
  ];
};

/** Returns a number with ζ^k in place of ζ. */
const conjugateOf = ([a, b, c, d]: Cyclotomic, k: number): Cyclotomic => {
  let root: Cyclotomic = [1n, 0n, 0n, 0n];
  for (let i = 0; i < k; i++) root = timesZeta(root);
  // by Horner's rule
  let sum: Cyclotomic = [d, 0n, 0n, 0n];
  for (const each of [c, b, a]) {
    const [first, ...others] = cyclotomicProduct(sum, root);
    sum = [first + each, ...others];
  }
  return sum;
};

/** Returns the integer square root of a square. */
const rootOfSquare = (square: bigint): bigint => {
  let root = 1n << BigInt(Math.ceil(square.toString(2).length / 2));
  for (let next = root; ; root = next) {
    next = (root + square / root) / 2n;
    if (next >= root) return root;
  }
};

/**
 * Returns a number of norm r that is 0 modulo r where ζ is the multiplication of ψ: with the seed s of a
 * BLS12 curve s − ζ, and with the seed u of a BN curve (u + 1) + u·ζ + u·ζ² − 2u·ζ³ (Galbraith, Scott,
 * "Exponentiation in pairing-friendly groups using homomorphisms", Pairing 2008, section 5).
 */
const shortNumber = (multiple: bigint, order: bigint): Cyclotomic => {
  const isSeed = multiple ** 4n - multiple ** 2n + 1n === order;
  if (isSeed) return [multiple, -1n, 0n, 0n];
  const u = rootOfSquare(multiple / 6n);
  return [u + 1n, u, u, -2n * u];
};

/** Returns how scalars are split into quarters: their remainders after a division by a number of norm r. */
const quartering = (short: Cyclotomic, r: bigint): Endomorphism['split'] => {
  // the product of all conjugates is the norm
  const inverse = [5, 7, 11].map((k) => conjugateOf(short, k)).reduce(cyclotomicProduct);
  const [f0, f1, f2, f3] = inverse.map((each) => roundedBy(each, r)) as [Rounded, Rounded, Rounded, Rounded];
  return (k) => {
    const quotient: Cyclotomic = [f0(k), f1(k), f2(k), f3(k)];
    const [t0, t1, t2, t3] = cyclotomicProduct(short, quotient);
    return [k - t0, -t1, -t2, -t3];
  };
};

const knownEndomorphisms = new WeakMap<object, Endomorphism>();

const findEndomorphism = (curve: CurveContext): Endomorphism => {
  const { membership, coordinates: f, order } = curve;
  if (f.degree === 2 && membership?.conjugates) {
    const { x, y, multiple } = membership;
    return { factors: { x, y }, parts: 4, split: quartering(shortNumber(multiple, order), order) };
  }
  const { beta, split } = halvingOf(curve);
  return { factors: { x: f.multiple(f.one, beta), y: f.one }, parts: 2, split };
};

/**
 * Returns the endomorphism by which multiples in G1 or G2 of BN254 or of a BLS12 curve take the fewest
 * doublings.
 *
 * The image is the multiple only in the group of order r: other points of the curve have others.
 */
export const endomorphismOf = (curve: CurveContext): Endomorphism => {
  const found = knownEndomorphisms.get(curve.constants) ?? findEndomorphism(curve);
  knownEndomorphisms.set(curve.constants, found);
  return found;
};
