/**
 * Tests on the CPU that points are in the group of order r: k·P = φ(P) for an endomorphism φ where
 * the curve has such a test (`Membership`), else r·P = 0.
 */
import type { CurveContext } from '../../curves/curve.js';
import { addAffine, isInfinity, multiply, negated } from '../../curves/jacobian.js';
import { endomorphism, nonAdjacentForm } from '../../curves/membership.js';
import { type PointSource, readerOf, wordsOf, writePoint } from '../../curves/point-source.js';
import type { Steps } from '../../scheduling/steps.js';
import { inTimeSlices, type TimeSlice } from '../../scheduling/time-slice.js';
import type { PointAdder, PointAt } from '../../wasm/points/point-adder.js';
import { unlessNoMemory, withAdder } from './adder.js';

/** Points that are multiplied side by side: one list of additions. */
const POINTS_PER_LIST = 2 ** 9;

/** Images under φ of one step; each takes about 10 µs. */
const IMAGES_PER_STEP = 2 ** 5;

/**
 * Returns the index of the first point outside the group; null if there is none.
 *
 * @param source points with both coordinates, on the curve
 * @param length number of points
 */
export const firstOutside = async (
  curve: CurveContext,
  source: PointSource,
  length: number,
  timeSlice: TimeSlice,
): Promise<number | null> => {
  const adding = withAdder(curve, async (adder) => ({
    index: await inTimeSlices(outsideByLists(curve, source, length, adder), timeSlice),
  }));
  const found = await unlessNoMemory(adding);
  return found === null ? inTimeSlices(outsideByNumbers(curve, source, length), timeSlice) : found.index;
};

/** Computes the test on BigInts, a point a step. */
function* outsideByNumbers(curve: CurveContext, source: PointSource, length: number): Steps<number | null> {
  const { membership, order } = curve;
  const read = readerOf(curve, source);
  const imageOf = membership && endomorphism(curve, membership);
  const multiple = membership?.multiple ?? order;
  for (let index = 0; index < length; index++) {
    const point = read(index);
    const image = imageOf?.(point) ?? null;
    const product = multiply(curve, multiple < 0n ? -multiple : multiple, point);
    const other = image !== null && multiple > 0n ? negated(curve, image) : image;
    if (!isInfinity(curve, addAffine(curve, product, other))) return index;
    yield;
  }
  return null;
}

/** Computes the test by double and add, for a list of points side by side. */
function* outsideByLists(
  curve: CurveContext,
  source: PointSource,
  length: number,
  adder: PointAdder,
): Steps<number | null> {
  const { membership, order, pointWords } = curve;
  const words = wordsOf(source.bytes);
  const multiple = membership?.multiple ?? order;
  const digits = nonAdjacentForm(multiple < 0n ? -multiple : multiple).slice(1);
  for (let from = 0; from < length; from += POINTS_PER_LIST) {
    const count = Math.min(POINTS_PER_LIST, length - from);
    adder.release();
    const points = adder.enter(words.subarray(from * pointWords, (from + count) * pointWords), source.scale);
    const sums = adder.take(count);
    /** Adds each Q, or −Q, to each P. */
    const addAll = (P: PointAt, Q: PointAt, negates: boolean): void => {
      for (let i = 0; i < count; i++) {
        const at = i * adder.pointBytes;
        adder.add(sums + at, P + at, Q + at + Number(negates));
      }
      adder.flush();
    };
    let sum = points;
    for (const digit of digits) {
      addAll(sum, sum, false);
      yield;
      sum = sums;
      if (digit === 0) continue;
      addAll(sums, points, digit < 0);
      yield;
    }
    if (membership !== undefined) {
      const images = adder.enter(yield* imagesOf(curve, source, from, count), 1n);
      addAll(sums, images, multiple > 0n);
      yield;
    }
    for (let i = 0; i < count; i++) if (!isZero(adder, sums + i * adder.pointBytes)) return from + i;
  }
  return null;
}

/** Returns whether a point of an adder is infinity. */
const isZero = (adder: PointAdder, at: PointAt): boolean =>
  adder.words(at, adder.pointBytes / 4).every((word) => word === 0) || adder.read(at).every((value) => value === 0n);

/** Returns the images of points under φ. */
function* imagesOf(curve: CurveContext, source: PointSource, from: number, count: number): Steps<Uint32Array> {
  const read = readerOf(curve, source);
  const imageOf = endomorphism(curve, curve.membership as NonNullable<CurveContext['membership']>);
  const images = new Uint32Array(count * curve.pointWords);
  for (let i = 0; i < count; i++) {
    writePoint(curve, images, i, imageOf(read(from + i)));
    if (i % IMAGES_PER_STEP === 0) yield;
  }
  return images;
}
