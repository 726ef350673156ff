/** Jobs made real: points, scalars, and the answers that are known of them. */
import { type CurveGroup, oracleOf } from '../../../oracle/curves.js';
import {
  type AffinePoint,
  type Coordinate,
  encodePoints,
  encodeScalars,
  expectedMsm,
  makeKnownBases,
  makeRandomScalars,
} from '../../../oracle/known-bases.js';
import { type JobShape, placeOfSet, type SetName } from './jobs.js';

export interface Job extends JobShape {
  readonly scalars: Uint8Array<ArrayBuffer>;
  readonly expected: AffinePoint<Coordinate>;
}

/** Points of which all sets are parts. */
export function makeProblem(where: CurveGroup, n: number, seed: number) {
  const curve = oracleOf(where);
  const { logs, points } = makeKnownBases(curve, placeOfSet('all', n).length, seed);
  /** Each has scalars of its own. */
  let made = 0;
  return {
    pointsOf(set: SetName): Uint8Array<ArrayBuffer> {
      const { first, length } = placeOfSet(set, n);
      return encodePoints(curve, points.slice(first, first + length));
    },
    jobOf(shape: JobShape): Job {
      const scalars = makeRandomScalars(curve, shape.n, seed + ++made);
      const { first } = placeOfSet(shape.set, n);
      return {
        ...shape,
        scalars: encodeScalars(curve, scalars),
        expected: expectedMsm(curve, logs.slice(first, first + shape.n), scalars),
      };
    },
  };
}
export type Problem = ReturnType<typeof makeProblem>;
