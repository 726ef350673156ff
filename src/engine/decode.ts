/** Points of a call in the format that backends load. */
import type { AffinePoint, BytesLike, Coordinate, PointEncoding } from '../api/values.js';
import type { CurveContext } from '../curves/curve.js';
import type { PointSource } from '../curves/point-source.js';
import type { TimeSlice } from '../scheduling/time-slice.js';
import { encodedBytes, encodePoints, isPlain } from './arguments.js';
import { withEncodings } from './encodings-loader.js';

/** Decodes in steps. @throws MsmError `bad-argument` */
const inTurns = async <Result>(steps: Generator<void, Result, void>, timeSlice: TimeSlice): Promise<Result> => {
  for (;;) {
    const { done, value } = await withEncodings(() => steps.next());
    if (done === true) return value;
    if (timeSlice.isOver) await timeSlice.yield();
  }
};

/**
 * Returns a copy of points, in the format that loads take.
 *
 * @param timeSlice pauses the decoding, not the copy
 * @throws MsmError `bad-argument`
 */
export const readPoints = async (
  curve: CurveContext,
  points: BytesLike | readonly AffinePoint<Coordinate>[],
  encoding: PointEncoding | undefined,
  timeSlice: TimeSlice,
): Promise<PointSource> => {
  let source: PointSource;
  if (isPlain(encoding)) {
    source = { bytes: encodePoints(curve, points), scale: 1n, encoding: 'le' };
  } else {
    const bytes = encodedBytes('points', points, 1, 'encoding');
    const steps = await withEncodings(({ readPoints: read }) => read(curve, bytes, encoding));
    source = await inTurns(steps, timeSlice);
  }
  if (curve.edwards === undefined) return source;
  return { ...source, scale: 1n, edwards: { scale: source.scale } };
};
