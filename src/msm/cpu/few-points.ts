/**
 * Sums of few points by Horner's rule over the bits of all scalars (Straus 1964), in non-adjacent
 * form (Reitwiesner 1960).
 */
import type { AffinePoint, Coordinate } from '../../api/values.js';
import type { CurveContext } from '../../curves/curve.js';
import { negated, nonAdjacentBits } from '../../curves/jacobian.js';
import { type PointSource, readerOf, wordsOf } from '../../curves/point-source.js';
import { digitsOf, readWords } from '../../field/modulus.js';
import type { SurveyedVector } from '../plan/workload.js';
import { publicPoint } from '../stages/combine-windows.js';
import { type Horner, pointOf, storedPoints } from '../stages/horner.js';
import { baseIndex } from './wasm-msm.js';

/** More points than this take buckets, which are faster then; of G2 half as many. */
export const FEW_POINTS = 8;

/** Shorter scalars need few doublings, so that buckets are as fast. */
export const LEAST_BITS = 64;

/** Digits of a scalar in non-adjacent form, as words: bits of those that are 1 and −1. */
interface Digits {
  readonly plus: readonly number[];
  readonly minus: readonly number[];
}

/** Returns the number that multiplies a point: reduced, and negative where that is shorter. */
const reduced = ({ order, negatesScalars }: CurveContext, scalar: bigint): bigint => {
  const k = scalar % order;
  return negatesScalars && 2n * k > order ? k - order : k;
};

const digits = (k: bigint, words: number): Digits => {
  const [ones, others] = nonAdjacentBits(k < 0n ? -k : k);
  const [plus, minus] = k < 0n ? [others, ones] : [ones, others];
  return { plus: digitsOf(plus, 32, words), minus: digitsOf(minus, 32, words) };
};

const hasBit = (words: readonly number[], bit: number): boolean =>
  (((words[bit >>> 5] as number) >>> (bit & 31)) & 1) === 1;

/** A sum of few points. */
export interface FewSum {
  readonly sum: AffinePoint<Coordinate>;
  /** Digits of each scalar. */
  readonly digits: number;
  /** Digits that are not zero, of all scalars. */
  readonly entries: number;
}

/**
 * Adds up scalar · point.
 *
 * @returns null if the arithmetic has another opinion about the points, which were checked
 */
export const sumOfFew = (
  curve: CurveContext,
  horner: Horner,
  source: PointSource,
  vector: SurveyedVector,
): FewSum | null => {
  const read = readerOf(curve, source);
  const own = curve.scalarBytes / 4;
  const scalars = wordsOf(vector.scalars);
  const count = scalars.length / own;
  const points = Array.from({ length: count }, (_, i) => read(baseIndex(vector, i)));
  const both = points.flatMap((point) => [point, point && negated(curve, point)]);
  if (horner.take(storedPoints(curve, both)) < both.length) return null;
  // a digit more than the scalar has bits
  const length = vector.load.bits + 1;
  const all = points.map((_, i) => digits(reduced(curve, readWords(scalars, i * own, own)), Math.ceil(length / 32)));
  let entries = 0;
  for (let bit = length - 1; bit >= 0; bit--) {
    horner.double();
    for (const [i, { plus, minus }] of all.entries()) {
      const isPlus = hasBit(plus, bit);
      if (!isPlus && !hasBit(minus, bit)) continue;
      horner.add(2 * i + (isPlus ? 0 : 1));
      entries++;
    }
  }
  return { sum: publicPoint(curve, pointOf(curve, horner.total())), digits: length, entries };
};

/** Adds up a vector of few points; returns null where buckets are faster. */
export const multiplyFew = (
  curve: CurveContext,
  horner: Horner,
  source: PointSource,
  vectors: readonly SurveyedVector[],
): FewSum | null => {
  const [vector] = vectors;
  if (vector === undefined || vectors.length > 1) return null;
  const { n, bits } = vector.load;
  if (n === 0 || n * curve.coordinates.degree > FEW_POINTS || bits < LEAST_BITS) return null;
  return sumOfFew(curve, horner, source, vector);
};
