/** Verifies a call by a second MSM of combined scalars, whose sum is known from the results. */
import type { AffinePoint, Coordinate } from '../../api/values.js';
import { type CurveContext, cubic } from '../../curves/curve.js';
import {
  type Affine,
  add,
  addAffine,
  double,
  infinityOf,
  isInfinity,
  type Jacobian,
  multiply,
  negated,
  toAffine,
} from '../../curves/jacobian.js';
import { type PointSource, readerOf, wordsOf, writePoint } from '../../curves/point-source.js';
import { addMultiples, FACTOR_END } from '../../curves/scalar-field.js';
import { GpuFault } from '../../errors.js';
import { digitsOf, FLOAT_LIMB_BITS, type Modulus } from '../../field/modulus.js';
import { squareRootIn } from '../../field/powers.js';
import type { TimeSlice } from '../../scheduling/time-slice.js';
import type { ScalarVector } from '../inputs/scalars.js';
import type { Plan } from '../plan/planner.js';
import type { Job } from '../plan/schedule.js';
import type { Knobs } from '../plan/tuning.js';
import { affineOf, publicPoint } from '../stages/combine-windows.js';

/** An MSM whose sum must be a known combination of the results of a call. */
export interface Check {
  /** Vectors for the GPU, each to be summed separately. */
  readonly vectors: readonly ScalarVector[];
  /** @throws GpuFault if the results of the call and the sums of `vectors` disagree */
  assertAgree(results: readonly AffinePoint<Coordinate>[], sums: readonly AffinePoint<Coordinate>[]): Promise<void>;
}

/** A term of a sum on the CPU. */
interface Term {
  readonly factor: number;
  readonly point: Affine;
}

/** Number of bases that get a random multiple δ; all bases where there are fewer. */
const SAMPLED = 8;

/** Number of scalars between two looks at the clock; they take about 1 ms. */
const SCALARS_PER_LOOK = 2 ** 12;

/** Returns a random integer from 0 to `end` − 1. */
const randomBelow = (end: number): number => Math.floor(Math.random() * end);

const isPrime = (n: number): boolean => {
  for (let d = 2; d * d <= n; d++) if (n % d === 0) return false;
  return true;
};

/** Draws a random prime factor: it takes only points of that very order to infinity. */
const drawFactor = (): number => {
  for (;;) {
    const drawn = FACTOR_END / 2 + randomBelow(FACTOR_END / 2);
    if (isPrime(drawn)) return drawn;
  }
};

/**
 * Returns the digits of numbers below 2^53 to the base r, lowest first, in the format of scalars.
 */
const digitsByOrder = (
  { order, scalarBytes }: Pick<CurveContext, 'order' | 'scalarBytes'>,
  numbers: Uint32Array<ArrayBuffer>,
): Uint32Array<ArrayBuffer>[] => {
  const base = Number(order);
  if (base >= 2 ** 53) return [numbers];
  const above = new Uint32Array(numbers.length);
  for (let at = 0; at < numbers.length; at += scalarBytes / 4) {
    const number = (numbers[at + 1] as number) * 2 ** 32 + (numbers[at] as number);
    if (number < base) continue;
    const [digit, rest] = [number % base, Math.floor(number / base)];
    numbers.set([digit, Math.floor(digit / 2 ** 32)], at);
    above.set([rest, Math.floor(rest / 2 ** 32)], at);
  }
  return above.every((word) => word === 0) ? [numbers] : [numbers, ...digitsByOrder({ order, scalarBytes }, above)];
};

/** Computes Σ factor · point. */
const combine = async (curve: CurveContext, terms: readonly Term[], slice: TimeSlice): Promise<Jacobian> => {
  let sum = infinityOf(curve);
  for (let bit = FACTOR_END / 2; bit >= 1; bit /= 2) {
    sum = double(curve, sum);
    for (const { factor, point } of terms) {
      if (factor & bit) sum = addAffine(curve, sum, point);
      if (slice.isOverSoon) await slice.yield();
    }
  }
  return sum;
};

/**
 * Draws a check of a call. For vectors s_v with sums Q_v, random factors ρ_v and multiples δ of
 * bases
 *
 *     Σ (Σ_v ρ_v·s_v + δ mod r)·P  =  Σ_v ρ_v·Q_v + Σ δ·P,
 *
 * where the GPU computes the left side and the CPU the right side. Where some points have another
 * order than r, the reduction modulo r matters: the left side lacks r·Σ w·P, where w counts how
 * often r was subtracted. The GPU reduces every scalar, so each w enters as its digits to the base
 * r. docs/explanation/correctness.md says what a check proves.
 *
 * @param source the bases; null: the check has no δ
 */
export const drawCheck = async (
  curve: CurveContext,
  vectors: readonly ScalarVector[],
  source: PointSource | null,
  slice: TimeSlice,
): Promise<Check> => {
  const given = vectors.filter(({ n }) => n > 0);
  const offset = given.reduce((least, vector) => Math.min(least, vector.offset), Number.POSITIVE_INFINITY);
  const n = given.reduce((most, vector) => Math.max(most, vector.offset + vector.n), 0) - offset;
  const words = curve.scalarBytes / 4;
  const blank = (): Uint32Array<ArrayBuffer> => new Uint32Array(n * words);
  const [sums, wraps] = [blank(), curve.negatesScalars ? null : blank()];
  const sampled: Term[] = [];
  if (source !== null) {
    const read = readerOf(curve, source);
    for (let i = 0; i < Math.min(n, SAMPLED); i++) {
      const index = n <= SAMPLED ? i : randomBelow(n);
      if (sums[index * words] !== 0) continue; // drawn before
      const factor = 1 + randomBelow(Math.min(FACTOR_END, Number(curve.order)) - 1);
      sums[index * words] = factor;
      sampled.push({ factor, point: read(offset + index) });
    }
  }
  const factors = vectors.map(drawFactor);
  for (const [v, vector] of vectors.entries()) {
    const scalars = wordsOf(vector.scalars);
    const at = (vector.offset - offset) * words;
    for (let first = 0; first < scalars.length; first += SCALARS_PER_LOOK * words) {
      const some = scalars.subarray(first, first + SCALARS_PER_LOOK * words);
      addMultiples(curve, sums.subarray(at + first), some, factors[v] as number, wraps?.subarray(at + first) ?? null);
      if (slice.isOver) await slice.yield();
    }
  }
  return {
    vectors: [sums, ...(wraps === null ? [] : digitsByOrder(curve, wraps))].map(({ buffer }) => ({
      scalars: new Uint8Array(buffer),
      n,
      offset,
      loaded: null,
    })),
    assertAgree: async (results, [sum, ...wrapped]) => {
      const terms = results.map((point, v) => ({ factor: factors[v] as number, point: affineOf(point) }));
      const claimed = await combine(curve, [...terms, ...sampled], slice);
      const lacking = wrapped.reduceRight(
        (above, digit) => multiply(curve, curve.order, toAffine(curve, addAffine(curve, above, affineOf(digit)))),
        infinityOf(curve),
      );
      const found = addAffine(curve, lacking, affineOf(sum as AffinePoint<Coordinate>));
      if (!isInfinity(curve, add(curve, claimed, negated(curve, found)))) {
        throw new GpuFault('verify', 'a second evaluation gives another result');
      }
    },
  };
};

/** Plans a vector with other windows, other digits and other tasks than `plan`. */
export const otherwise = (
  { tuning: { windowBits, walkerEntriesPerTask } }: Plan,
  jobsWith: (knobs: Knobs) => Job[],
): Job[] => {
  const other = { walkerEntriesPerTask: walkerEntriesPerTask + 5 };
  const free = jobsWith(other);
  if (free[0]?.batches[0]?.plan.tuning.windowBits !== windowBits) return free;
  // a narrower window fits wherever this one fits
  return jobsWith({ ...other, windowBits: windowBits > 2 ? windowBits - 1 : 3 });
};

/* Known answer for self-tests: an MSM over points that strain carries, summed on the CPU alone. */

/** Points, scalars and their sum. */
export interface KnownAnswer {
  /** Points in the public format. */
  readonly points: Uint8Array<ArrayBuffer>;
  /** Scalars in the public format. */
  readonly scalars: Uint8Array<ArrayBuffer>;
  readonly sum: AffinePoint<Coordinate>;
}

/** A number without a pattern: the digits of the golden ratio. */
const LONG = 0x9e3779b97f4a7c15f39cc0605cedc8341082276bf3a27251f86c6a11d0c18e95n;

/**
 * Squares of these limbs are 2^24 + 1 and 2^24 − 7 modulo 2^25, just above and below the middle
 * between two floats of src/field/products.ts.
 */
const MIDDLES = [0x800001, 0xe73f4b] as const;

/**
 * Returns numbers for which the roundings of products by floats all err by the most, up or down:
 * elements in Montgomery form with limbs that are all equal. None for other products.
 */
const middles = ({ product, bits }: Modulus): bigint[] =>
  product !== 'fma'
    ? []
    : MIDDLES.map((limb) => {
        const ones = (1n << BigInt(FLOAT_LIMB_BITS * Math.ceil(bits / FLOAT_LIMB_BITS))) - 1n;
        return ((ones / (2n ** BigInt(FLOAT_LIMB_BITS) - 1n)) * BigInt(limb)) & ((1n << BigInt(bits - 1)) - 1n);
      });

/** Returns the first point on the curve with x in `x`, `x + step`, `x + 2·step` and so on. */
const pointFrom = (curve: CurveContext, x: Coordinate, step: Coordinate): AffinePoint<Coordinate> => {
  const f = curve.coordinates;
  for (let at = f.reduced(x); ; at = f.reduced(f.sum(at, step))) {
    const y = squareRootIn(f, cubic(curve, at));
    if (y !== null) return { x: at, y, infinity: false };
  }
};

/**
 * Makes the known answer of a curve. The limbs of x are near 0, 1, all ones or p − 1, so that
 * borrows and carries ripple through all limbs: in plain form for some points, in Montgomery form
 * for others. Products by floats get limbs whose products are hard to round as well. In the buckets
 * of a common scalar points meet themselves, their opposites, infinity and one another.
 */
export const knownAnswer = (curve: CurveContext): KnownAnswer => {
  const { p, order, field, coordinates: f } = curve;
  const top = 1n << BigInt(field.bits - 1);
  const points: AffinePoint<Coordinate>[] = [];
  const infinity = infinityOf(curve);
  const scalars: bigint[] = [];
  // scalars are small multiples of these units, so the CPU needs only three long multiplications;
  // half of the order is where scalars begin to be negated
  const half = (order - 1n) / 2n;
  const units = [LONG % half, half, 1n];
  const sums: Jacobian[] = units.map(() => infinity);
  const put = (point: AffinePoint<Coordinate>, ...times: readonly number[]): void => {
    points.push(point);
    scalars.push(times.reduce((sum, count, i) => sum + BigInt(count) * (units[i] as bigint), 0n));
    times.forEach((count, i) => {
      sums[i] = add(curve, sums[i] as Jacobian, multiply(curve, BigInt(count), affineOf(point)));
    });
  };
  let i = 0;
  for (const x of [0n, 1n, top - 1n, top, p / 2n, p - 1n, ...middles(field)]) {
    const step = x < p / 2n ? 1n : -1n;
    for (const form of [1n, field.rInverse]) {
      // the same limbs in every coefficient
      const point = pointFrom(curve, f.of([x * form, x * form]), f.of([step * form, 0n]));
      const met = [point, negated(curve, point), publicPoint(curve, null)][i % 3] as AffinePoint<Coordinate>;
      put(met, 1, 0, 0);
      put(point, 1, 0, 0);
      const [a, b, c] = [
        [0, 0, 1],
        [0, 2, 0],
        [0, 1, 0],
        [0, 1, 1],
        [0, 0, Math.min(8191, Number(half))],
        [1, 1, 0],
      ][i++ % 6] as number[];
      put(point, a as number, b as number, c as number);
    }
  }
  const sum = units.reduce(
    (total, unit, at) => add(curve, total, multiply(curve, unit, toAffine(curve, sums[at] as Jacobian))),
    infinity,
  );
  const pointBytes = new Uint8Array(points.length * curve.pointBytes);
  const pointWords = wordsOf(pointBytes);
  for (const [at, point] of points.entries()) writePoint(curve, pointWords, at, affineOf(point));
  const scalarBytes = new Uint8Array(scalars.length * curve.scalarBytes);
  const scalarWords = curve.scalarBytes / 4;
  for (const [at, scalar] of scalars.entries()) {
    wordsOf(scalarBytes).set(digitsOf(scalar, 32, scalarWords), at * scalarWords);
  }
  return { points: pointBytes, scalars: scalarBytes, sum: publicPoint(curve, toAffine(curve, sum)) };
};
