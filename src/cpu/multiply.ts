import type { AffinePoint, Coordinate } from '../api.js';
import type { CurveContext } from '../curves/curve.js';
import { type Affine, toAffine } from '../curves/jacobian.js';
import { type PointSource, readerOf } from '../curves/point-source.js';
import type { SurveyedVector } from '../plan/survey.js';
import { publicPoint } from '../stages/fold.js';
import { type CpuResult, pippenger } from './pippenger.js';
import { Turns } from './turns.js';

/** What a call came to that was computed on the CPU. */
export interface CpuOutcome {
  /** The sums of the vectors. */
  readonly sums: AffinePoint<Coordinate>[];
  /** c, and digits of a scalar, of the vector with the most digits. */
  readonly windowBits: number;
  readonly windows: number;
  /** Digits that were not zero, of all vectors. */
  readonly entries: number;
}

/**
 * Multiplies vectors on the CPU, one after the other.
 *
 * @param source all bases; null only if no vector has any scalars
 * @param goOn called now and then; what it throws ends the computation
 */
export const multiplyOnCpu = async (
  curve: CurveContext,
  source: PointSource | null,
  vectors: readonly SurveyedVector[],
  goOn: () => void,
): Promise<CpuOutcome> => {
  const turns = new Turns(goOn);
  const read = source === null ? () => null : readerOf(curve, source);
  const done: CpuResult[] = [];
  for (const vector of vectors) {
    done.push(await pippenger(curve, pointsOf(read, vector), vector.scalars, turns));
  }
  const { windowBits, windows } = done.reduce((most, each) => (each.entries > most.entries ? each : most));
  return {
    sums: done.map(({ sum }) => publicPoint(curve, toAffine(curve, sum))),
    windowBits,
    windows,
    entries: done.reduce((sum, each) => sum + each.entries, 0),
  };
};

/** Points of the scalars of a vector. */
const pointsOf =
  (read: (index: number) => Affine, { offset, indices }: SurveyedVector) =>
  (i: number): Affine =>
    read(offset + (indices === null ? i : (indices[i] as number)));
