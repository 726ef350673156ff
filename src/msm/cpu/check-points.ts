/** Checks points on the CPU: canonical coordinates, curve equation, and subgroup. */
import { type CurveContext, isOnCurve } from '../../curves/curve.js';
import { imageOf, isOnEdwards } from '../../curves/edwards.js';
import { type Affine, isInfinity, multiply } from '../../curves/jacobian.js';
import { type PointSource, readerOf, wordsOf, writePoint } from '../../curves/point-source.js';
import { readElement } from '../../field/field.js';
import { digitsOf, invert } from '../../field/modulus.js';
import type { TimeSlice } from '../../scheduling/time-slice.js';
import type { PointAdder, PointAt } from '../../wasm/arithmetic/point-adder.js';
import { withAdder } from './adder.js';

/** First wrong point, and its fault. */
export interface WrongPoint {
  readonly index: number;
  readonly wrong: 'a coordinate' | 'off the curve' | 'outside the group';
}

/** Points that are checked between two readings of the clock. */
const POINTS_PER_CLOCK = 16;

/** Points of one list of additions. */
const POINTS_PER_LIST = 2 ** 11;

/** Returns a reader of points of the curve that is computed on, or of their faults. */
const checkedReader = (curve: CurveContext, source: PointSource): ((index: number) => Affine | WrongPoint['wrong']) => {
  const { coordinates: f, p, pointWords } = curve;
  const { bytes, sign, edwards } = source;
  const { scale } = edwards ?? source;
  const words = wordsOf(bytes);
  const unit = scale === 1n ? 1n : invert(scale, p);
  const isCanonical = (at: number): boolean => f.coefficients(readElement(f, words, at)).every((value) => value < p);
  const read = readerOf(curve, source);
  return (index) => {
    const at = index * pointWords;
    if (!isCanonical(at) || (sign === undefined && !isCanonical(at + f.words))) return 'a coordinate';
    const [x, y] = [at, at + f.words].map((from) => f.reduced(f.multiple(readElement(f, words, from), unit)));
    if (x === undefined || y === undefined || (f.isZero(x) && f.isZero(y))) return null;
    if (edwards !== undefined) {
      const own = curve.edwards;
      if (own === undefined || !isOnEdwards(own, p, x as bigint, y as bigint)) return 'off the curve';
      return imageOf(curve, x, y);
    }
    // a compressed point without a y is not on the curve
    if (sign !== undefined) return read(index) ?? 'off the curve';
    return isOnCurve(curve, x, y) ? { x, y } : 'off the curve';
  };
};

/**
 * Checks all points of a source.
 *
 * @param timeSlice time slices of the call
 * @param progress called with the number of points checked so far
 * @returns points in the form that sums take, or the first wrong point
 */
export const checkPoints = async (
  curve: CurveContext,
  source: PointSource,
  checkSubgroup: boolean,
  timeSlice: TimeSlice,
  progress: (done: number) => void,
): Promise<PointSource | WrongPoint> => {
  const { pointBytes } = curve;
  const length = source.bytes.length / pointBytes;
  const isPlain = source.sign === undefined && source.edwards === undefined;
  if (isPlain) {
    const found = await withAdder(curve, async (adder) => ({
      wrong: await wrongByLists(curve, source, length, adder, timeSlice, progress),
    }));
    if (found !== null) {
      if (found.wrong !== null) return found.wrong;
      return checkSubgroup ? inGroup(curve, source, length, timeSlice) : source;
    }
  }
  const read = checkedReader(curve, source);
  const bytes = isPlain ? source.bytes : new Uint8Array(length * pointBytes);
  const words = wordsOf(bytes);
  for (let index = 0; index < length; index++) {
    const point = read(index);
    if (typeof point === 'string') return { index, wrong: point };
    if (!isPlain) writePoint(curve, words, index, point);
    if (index % POINTS_PER_CLOCK === 0 && timeSlice.isOver) {
      progress(index);
      await timeSlice.yield();
    }
  }
  const checked: PointSource = isPlain ? source : { bytes, scale: 1n, encoding: 'le' };
  return checkSubgroup ? inGroup(curve, checked, length, timeSlice) : checked;
};

/**
 * Checks that all points are in the subgroup of order r.
 *
 * @returns the points, or the first wrong one
 */
const inGroup = async (
  curve: CurveContext,
  checked: PointSource,
  length: number,
  timeSlice: TimeSlice,
): Promise<PointSource | WrongPoint> => {
  if (curve.negatesScalars) return checked;
  const outside = await firstOutside(curve, checked, length, timeSlice);
  return outside === null ? checked : { index: outside, wrong: 'outside the group' };
};

/** Returns the first wrong point, checked by lists in WebAssembly; null if there is none. */
const wrongByLists = async (
  curve: CurveContext,
  { bytes, scale }: PointSource,
  length: number,
  adder: PointAdder,
  timeSlice: TimeSlice,
  progress: (done: number) => void,
): Promise<WrongPoint | null> => {
  const { p, pointWords, field } = curve;
  const words = wordsOf(bytes);
  const wordsOfNumber = field.bytes / 4;
  const limits = digitsOf(p, 32, wordsOfNumber);
  const isBelowP = (at: number): boolean => {
    for (let i = wordsOfNumber - 1; i >= 0; i--) {
      const [word, limit] = [words[at + i] as number, limits[i] as number];
      if (word !== limit) return word < limit;
    }
    return false;
  };
  const isCanonical = (index: number): boolean => {
    for (let at = index * pointWords; at < (index + 1) * pointWords; at += wordsOfNumber)
      if (!isBelowP(at)) return false;
    return true;
  };
  for (let from = 0; from < length; from += POINTS_PER_LIST) {
    const end = Math.min(length, from + POINTS_PER_LIST);
    let to = from;
    while (to < end && isCanonical(to)) to++;
    adder.release();
    const points = adder.enter(words.subarray(from * pointWords, to * pointWords), scale);
    const index = from + adder.check(points, to - from);
    if (index < to) return { index, wrong: 'off the curve' };
    if (to < end) return { index: to, wrong: 'a coordinate' };
    if (timeSlice.isOver) {
      progress(to);
      await timeSlice.yield();
    }
  }
  return null;
};

/** Returns the index of the first point outside the subgroup; null if there is none. */
const firstOutside = async (
  curve: CurveContext,
  source: PointSource,
  length: number,
  timeSlice: TimeSlice,
): Promise<number | null> => {
  const found = await withAdder(curve, async (adder) => ({
    index: await outsideByLists(curve, source, length, adder, timeSlice),
  }));
  if (found !== null) return found.index;
  const read = readerOf(curve, source);
  for (let index = 0; index < length; index++) {
    if (!isInfinity(curve, multiply(curve, curve.order, read(index)))) return index;
    if (timeSlice.isOver) await timeSlice.yield();
  }
  return null;
};

/** Computes r·P by double and add, for a list of points side by side. */
const outsideByLists = async (
  { order, pointWords }: CurveContext,
  { bytes, scale }: PointSource,
  length: number,
  adder: PointAdder,
  timeSlice: TimeSlice,
): Promise<number | null> => {
  const words = wordsOf(bytes);
  const bits = order.toString(2).slice(1);
  for (let from = 0; from < length; from += POINTS_PER_LIST) {
    const count = Math.min(POINTS_PER_LIST, length - from);
    adder.release();
    const points = adder.enter(words.subarray(from * pointWords, (from + count) * pointWords), scale);
    const sums = adder.take(count);
    const at = (start: PointAt, i: number): PointAt => start + i * adder.pointBytes;
    const addAll = async (P: PointAt, Q: PointAt): Promise<void> => {
      for (let i = 0; i < count; i++) adder.add(at(sums, i), at(P, i), at(Q, i));
      adder.flush();
      if (timeSlice.isOver) await timeSlice.yield();
    };
    let sum = points;
    for (const bit of bits) {
      await addAll(sum, sum);
      sum = sums;
      if (bit === '1') await addAll(sums, points);
    }
    for (let i = 0; i < count; i++) {
      if (adder.read(at(sum, i)).some((value) => value !== 0n)) return from + i;
    }
  }
  return null;
};
