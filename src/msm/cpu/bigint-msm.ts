/**
 * Pippenger's algorithm on BigInts, where the platform has no WebAssembly. It is also the reference
 * that a reader of the fast backends starts from: every step in one function.
 */
import type { CurveContext } from '../../curves/curve.js';
import { type Affine, add, addAffine, double, infinityOf, type Jacobian, negated } from '../../curves/jacobian.js';
import { wordsOf } from '../../curves/point-source.js';
import { digitsOf, readWords } from '../../field/modulus.js';
import type { TimeSlice } from '../../scheduling/time-slice.js';
import { cpuWindowBits } from '../plan/tuning.js';
import { windowCount } from '../plan/workload.js';

/**
 * Returns signed digits d_j of a scalar, |d_j| ≤ 2^(c−1), with Σ d_j·2^(c·j) = scalar. A digit
 * above the half borrows from the next one.
 */
export const signedDigits = (scalar: bigint, windowBits: number, windows: number): number[] => {
  const radix = 2 ** windowBits;
  let carry = 0;
  return digitsOf(scalar, windowBits, windows).map((bits) => {
    const digit = bits + carry;
    carry = digit > radix / 2 ? 1 : 0;
    return digit - carry * radix;
  });
};

/** Returns Σ (k + 1)·buckets[k], by running sums from the top bucket. */
const weightedSum = async (
  curve: CurveContext,
  buckets: readonly Jacobian[],
  timeSlice: TimeSlice,
): Promise<Jacobian> => {
  const infinity = infinityOf(curve);
  let [running, sum] = [infinity, infinity];
  for (let k = buckets.length - 1; k >= 0; k--) {
    running = add(curve, running, buckets[k] as Jacobian);
    sum = add(curve, sum, running);
    if (timeSlice.isOverSoon) await timeSlice.yield();
  }
  return sum;
};

interface CpuResult {
  readonly sum: Jacobian;
  readonly windowBits: number;
  readonly windows: number;
  /** Number of digits that were not zero. */
  readonly entries: number;
}

/**
 * Computes an MSM on BigInts, for platforms without WebAssembly. Buckets and signed windows are as
 * on the GPU (Pippenger 1976). Jacobian coordinates with all exceptional cases make it right on
 * every input.
 *
 * @param pointOf returns a point that was checked before
 * @param scalars scalars in the public format
 * @param timeSlice time slices of the call
 */
export const pippenger = async (
  curve: CurveContext,
  pointOf: (index: number) => Affine,
  scalars: Uint8Array<ArrayBuffer>,
  timeSlice: TimeSlice,
): Promise<CpuResult> => {
  const n = scalars.length / curve.scalarBytes;
  const infinity = infinityOf(curve);
  if (n === 0) return { sum: infinity, windowBits: 2, windows: 0, entries: 0 };
  const windowBits = cpuWindowBits(curve.scalarBits, (c) => n * windowCount(curve.scalarBits, c));
  const windows = windowCount(curve.scalarBits, windowBits);
  const scalarWords = wordsOf(scalars);
  const words = curve.scalarBytes / 4;
  const terms: { readonly plus: Affine; readonly minus: Affine; readonly digits: readonly number[] }[] = [];
  for (let i = 0; i < n; i++) {
    const plus = pointOf(i);
    const minus = plus === null ? null : negated(curve, plus);
    const scalar = readWords(scalarWords, i * words, words) % curve.order;
    terms.push({ plus, minus, digits: signedDigits(scalar, windowBits, windows) });
    if (timeSlice.isOverSoon) await timeSlice.yield();
  }
  let sum = infinity;
  let entries = 0;
  for (let j = windows - 1; j >= 0; j--) {
    for (let i = 0; i < windowBits; i++) sum = double(curve, sum);
    const buckets = new Array<Jacobian>(2 ** (windowBits - 1)).fill(infinity);
    for (const { plus, minus, digits } of terms) {
      const digit = digits[j] as number;
      if (digit === 0) continue;
      const bucket = Math.abs(digit) - 1;
      buckets[bucket] = addAffine(curve, buckets[bucket] as Jacobian, digit > 0 ? plus : minus);
      entries++;
      if (timeSlice.isOverSoon) await timeSlice.yield();
    }
    sum = add(curve, sum, await weightedSum(curve, buckets, timeSlice));
  }
  return { sum, windowBits, windows, entries };
};
