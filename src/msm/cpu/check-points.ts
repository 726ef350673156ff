/** Checks points on the CPU: canonical coordinates, curve equation, and subgroup. */

import { canonicalTest } from '../../curves/canonical.js';
import type { CurveContext } from '../../curves/curve.js';
import { type PointSource, wordsOf, writePoint } from '../../curves/point-source.js';
import type { TimeSlice } from '../../scheduling/time-slice.js';
import type { PointAdder } from '../../wasm/points/point-adder.js';
import { unlessNoMemory, withAdder } from './adder.js';
import { firstOutside } from './check-subgroup.js';
import { checkedReader, type WrongPoint } from './checked-reader.js';
import { decodePoints } from './decode-points.js';

/** Points of one list of additions. */
const POINTS_PER_LIST = 2 ** 11;

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
    const adding = withAdder(curve, async (adder) => ({
      wrong: await wrongByLists(curve, source, length, adder, timeSlice, progress),
    }));
    const found = await unlessNoMemory(adding);
    if (found !== null) {
      if (found.wrong !== null) return found.wrong;
      return checkSubgroup ? inGroup(curve, source, length, timeSlice) : source;
    }
  }
  const decoded = isPlain ? null : await decodePoints(curve, source, timeSlice, progress);
  if (decoded !== null) {
    if ('wrong' in decoded || !checkSubgroup) return decoded;
    return inGroup(curve, decoded, length, timeSlice);
  }
  const read = checkedReader(curve, source);
  const bytes = isPlain ? source.bytes : new Uint8Array(length * pointBytes);
  const words = wordsOf(bytes);
  for (let index = 0; index < length; index++) {
    const point = read(index);
    if (typeof point === 'string') return { index, wrong: point };
    if (!isPlain) writePoint(curve, words, index, point);
    // a square root takes 0.1 to 1 ms
    if (timeSlice.isOver) {
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
  const { pointWords } = curve;
  const words = wordsOf(bytes);
  const isCanonical = canonicalTest(curve, words, pointWords);
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
