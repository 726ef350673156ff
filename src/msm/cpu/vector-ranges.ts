/** Cuts vectors into ranges of scalars, and groups these into rounds that fit in memory. */
import type { CurveContext } from '../../curves/curve.js';
import { type PointSource, readerOf, wordsOf, writePoint } from '../../curves/point-source.js';
import { ITEMS_PER_STEP, type Steps } from '../../scheduling/steps.js';
import { cpuShape, MOST_POINTS } from '../plan/cost.js';
import type { SurveyedVector } from '../plan/workload.js';
import type { WindowShape } from './combine-windows.js';

/** Windows of one round at most, of all its ranges. */
const MAX_WINDOWS = 2 ** 12;

/** The points that the scalars of a vector multiply. */
interface VectorPoints {
  /** Returns the words of the points `from` to `to`; not to be written to. */
  readonly words: (from: number, to: number) => Steps<Uint32Array>;
  /** Factor that the coordinates were multiplied by. */
  readonly scale: bigint;
}

/** Consecutive scalars of one vector, at most `MOST_POINTS`. */
export interface VectorRange {
  /** Index of the vector. */
  readonly vector: number;
  readonly points: VectorPoints;
  readonly scalars: Uint8Array<ArrayBuffer>;
  /** Bit length of the scalars at most. */
  readonly bits: number;
  readonly from: number;
  readonly to: number;
  /** Estimated number of digits that are not zero. */
  readonly entries: number;
  readonly shape: WindowShape;
}

/** Returns the index of the base that scalar `i` multiplies. */
export const baseIndex = ({ offset, indices }: SurveyedVector, i: number): number =>
  offset + (indices === null ? i : (indices[i] as number));

/** Points that can be used as they are stored. */
const storedPoints = ({ pointWords }: CurveContext, source: PointSource, vector: SurveyedVector): VectorPoints => {
  const all = wordsOf(source.bytes);
  const { scale } = source;
  if (vector.indices === null) {
    const at = (i: number): number => (vector.offset + i) * pointWords;
    return {
      scale,
      *words(from, to) {
        yield;
        return all.subarray(at(from), at(to));
      },
    };
  }
  function* words(from: number, to: number): Steps<Uint32Array> {
    const picked = new Uint32Array((to - from) * pointWords);
    for (let i = from; i < to; i++) {
      const at = baseIndex(vector, i) * pointWords;
      picked.set(all.subarray(at, at + pointWords), (i - from) * pointWords);
      if (i % ITEMS_PER_STEP === 0) yield;
    }
    return picked;
  }
  return { scale, words };
};

const pointsOf = (curve: CurveContext, source: PointSource, vector: SurveyedVector): VectorPoints => {
  if (source.sign === undefined && source.edwards === undefined) return storedPoints(curve, source, vector);
  const read = readerOf(curve, source);
  function* words(from: number, to: number): Steps<Uint32Array> {
    const written = new Uint32Array((to - from) * curve.pointWords);
    for (let i = from; i < to; i++) {
      writePoint(curve, written, i - from, read(baseIndex(vector, i)));
      // a square root takes 0.1 to 1 ms
      yield;
    }
    return written;
  }
  return { scale: 1n, words };
};

/** Yields the ranges of all vectors, in order. */
export function* rangesOf(
  curve: CurveContext,
  source: PointSource,
  vectors: readonly SurveyedVector[],
): Generator<VectorRange> {
  const { scalarBytes } = curve;
  for (const [index, vector] of vectors.entries()) {
    const { n, bits } = vector.load;
    if (n === 0) continue;
    const points = pointsOf(curve, source, vector);
    const shape = cpuShape(vector.load);
    for (let from = 0; from < n; from += MOST_POINTS) {
      const to = Math.min(n, from + MOST_POINTS);
      const scalars = vector.scalars.subarray(from * scalarBytes, to * scalarBytes);
      const entries = (shape.digits * (to - from)) / n;
      yield { vector: index, points, scalars, bits, from, to, shape, entries };
    }
  }
}

/** Groups ranges into rounds, each of as many consecutive ranges as fit in memory together. */
export function* roundsOf(ranges: Iterable<VectorRange>): Generator<readonly VectorRange[]> {
  let round: VectorRange[] = [];
  let [points, windows] = [0, 0];
  for (const range of ranges) {
    const [morePoints, moreWindows] = [points + range.to - range.from, windows + range.shape.windows];
    if (round.length > 0 && (morePoints > MOST_POINTS || moreWindows > MAX_WINDOWS)) {
      yield round;
      [round, points, windows] = [[], 0, 0];
    }
    round.push(range);
    points += range.to - range.from;
    windows += range.shape.windows;
  }
  if (round.length > 0) yield round;
}
