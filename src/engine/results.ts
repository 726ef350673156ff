import type { AffinePoint, Coordinate, PointEncoding } from '../api/values.js';
import type { CurveContext } from '../curves/curve.js';
import { originalOf } from '../curves/edwards.js';
import { encodePoints, isPlain } from './arguments.js';
import { withEncodings } from './encodings-loader.js';

type Bytes = Uint8Array<ArrayBuffer>;

/** Sum in the form that a call requested. */
export type ResultPoint = AffinePoint<Coordinate> | Bytes;

/** Writes a sum in the form that a call requested. */
export type ResultWriter = (sum: AffinePoint<Coordinate>) => ResultPoint;

/** Returns the writer for a form of results. */
export const resultWriter = async (curve: CurveContext, result: 'affine' | PointEncoding): Promise<ResultWriter> => {
  const { edwards } = curve;
  const own = (sum: AffinePoint<Coordinate>): AffinePoint<Coordinate> =>
    edwards === undefined ? sum : originalOf(curve, sum);
  if (result === 'affine') return own;
  const write = isPlain(result)
    ? (bytes: Bytes) => bytes
    : await withEncodings(({ writerOf }) => writerOf(curve, result));
  return (sum) => {
    const point = own(sum);
    // on Edwards curves infinity is a point like others
    const infinity = point.infinity && edwards === undefined;
    return write(encodePoints(curve, [{ ...point, infinity }]));
  };
};
