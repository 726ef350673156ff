import type { CurveContext } from '../../src/curves/curve.js';
import { INDEX_MASK, NEGATE } from '../../src/msm/stages/entry.js';
import { extendedWords } from '../../src/msm/stages/walk-xyzz.js';
import {
  addExtended,
  type Extended,
  extendedInfinity,
  extendedOf,
  negatedExtended,
  readExtended,
  writeExtended,
} from './extended.js';
import { readPoint } from './points.js';
import { type Cut, type Walked, walkOf } from './walk.js';

/**
 * CPU reference of wgsl/msm/walk-xyzz.wgsl: the rules of walk.wgsl, with sums in extended
 * coordinates. Writes `sums` in place, as the GPU does, and only keys with a present entry.
 *
 * @param isExtended whether the points are in extended coordinates
 */
export const walkXyzz = (
  curve: CurveContext,
  cut: Cut,
  stream: Uint32Array,
  points: Uint32Array,
  isExtended: boolean,
  sums: Uint32Array,
): Walked => {
  const pointOf = (pointRef: number): Extended => {
    const index = pointRef & INDEX_MASK;
    const point = isExtended ? readExtended(curve, points, index) : extendedOf(curve, readPoint(curve, points, index));
    return pointRef >= NEGATE ? negatedExtended(curve, point) : point;
  };
  const walked = walkOf<Extended>(cut, stream, (sum, pointRef) =>
    addExtended(curve, sum ?? extendedInfinity(curve), pointOf(pointRef)),
  );
  for (const [key, sum] of walked.sums) writeExtended(curve, sums, key, sum);
  const partials = new Uint32Array(2 * cut.tasks * extendedWords(curve));
  walked.partials.forEach((sum, place) => {
    if (sum !== null) writeExtended(curve, partials, place, sum);
  });
  return { carries: walked.carries, partials, writers: walked.writers };
};
