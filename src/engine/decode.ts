/** Points and scalars of a call in the formats that backends compute with. */
import type { AffinePoint, BytesLike, Coordinate, PointEncoding, ScalarEncoding } from '../api/values.js';
import type { CurveContext } from '../curves/curve.js';
import type { PointSource } from '../curves/point-source.js';
import type { ScalarVector } from '../msm/inputs/scalar-vectors.js';
import { encodedBytes, encodePoints, isPlain } from './arguments.js';
import { withEncodings } from './encodings-loader.js';

/** Returns a copy of points, in the format that loads take. @throws MsmError `bad-argument` */
export const readPoints = async (
  curve: CurveContext,
  points: BytesLike | readonly AffinePoint<Coordinate>[],
  encoding: PointEncoding | undefined,
): Promise<PointSource> => {
  let source: PointSource;
  if (isPlain(encoding)) {
    source = { bytes: encodePoints(curve, points), scale: 1n, encoding: 'le' };
  } else {
    const bytes = encodedBytes('points', points, 1, 'encoding');
    source = await withEncodings(({ readPoints: read }) => read(curve, bytes, encoding));
  }
  if (curve.edwards === undefined) return source;
  return { ...source, scale: 1n, edwards: { scale: source.scale } };
};

/** Returns vectors with scalars in little-endian bytes. @throws MsmError `bad-argument` */
export const readScalarVectors = async (
  curve: CurveContext,
  vectors: readonly ScalarVector[],
  encoding: ScalarEncoding | undefined,
): Promise<readonly ScalarVector[]> => {
  if (isPlain(encoding)) return vectors;
  return withEncodings(({ readScalars }) =>
    vectors.map((vector) =>
      // loaded scalars were decoded when they were loaded
      vector.loaded === null ? { ...vector, scalars: readScalars(curve, vector.scalars, encoding) } : vector,
    ),
  );
};
