/** Makes points, scalars and known answers for jobs. */
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
import { type JobShape, rangeOfSet, type SetName } from './jobs.js';

export interface Job extends JobShape {
  readonly scalars: Uint8Array<ArrayBuffer>;
  readonly expected: AffinePoint<Coordinate>;
}

/** Makes the points that all sets are ranges of. */
export function makeProblem(where: CurveGroup, n: number, seed: number) {
  const curve = oracleOf(where);
  const { logs, points } = makeKnownBases(curve, rangeOfSet('all', n).length, seed);
  /** Number of jobs made; each gets scalars of its own. */
  let made = 0;
  return {
    pointsOf(set: SetName): Uint8Array<ArrayBuffer> {
      const { first, length } = rangeOfSet(set, n);
      return encodePoints(curve, points.slice(first, first + length));
    },
    jobOf(shape: JobShape): Job {
      const scalars = makeRandomScalars(curve, shape.n, seed + ++made);
      const { first } = rangeOfSet(shape.set, n);
      return {
        ...shape,
        scalars: encodeScalars(curve, scalars),
        expected: expectedMsm(curve, logs.slice(first, first + shape.n), scalars),
      };
    },
  };
}
export type Problem = ReturnType<typeof makeProblem>;
