/**
 * Multiples on curves y² = x³ + b by scalars of half the length: k·P = k₁·P + k₂·φ(P) with the
 * endomorphism φ(x, y) = (β·x, y), which is multiplication by λ (Gallant, Lambert, Vanstone 2001).
 */
import { mod } from '../field/modulus.js';
import { power } from '../field/powers.js';
import type { CurveContext } from './curve.js';
import { multiply, toAffine } from './jacobian.js';

/** The endomorphism of a group, and how it halves scalars. */
interface Halving {
  /** A root of unity of order 3 modulo p. */
  readonly beta: bigint;
  /** Returns k₁ and k₂, at most half as long as the order, with k = k₁ + λ·k₂ modulo the order. */
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
  return {
    beta,
    split(k) {
      // k·(1, 0) in the basis of both vectors, rounded
      const [c1, c2] = [nearest(sign * b2 * k, r), nearest(-sign * b1 * k, r)];
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
