import type { AffinePoint } from '../api.js';
import type { CurveContext } from '../curves/curve.js';
import { toAffine } from '../curves/jacobian.js';
import type { SurveyedVector } from '../plan/survey.js';
import { publicPoint } from '../stages/fold.js';
import { type CpuResult, pippenger } from './pippenger.js';
import { Turns } from './turns.js';

/** What a call came to that was computed on the CPU. */
export interface CpuOutcome {
  /** The sums of the vectors. */
  readonly sums: AffinePoint[];
  /** c, and digits of a scalar, of the vector with the most digits. */
  readonly windowBits: number;
  readonly windows: number;
  /** Digits that were not zero, of all vectors. */
  readonly entries: number;
}

/**
 * Multiplies vectors on the CPU, one after the other.
 *
 * @param points all bases, in the public format; null only if no vector has any scalars
 * @param goOn called now and then; what it throws ends the computation
 */
export const multiplyOnCpu = async (
  curve: CurveContext,
  points: Uint8Array<ArrayBuffer> | null,
  vectors: readonly SurveyedVector[],
  goOn: () => void,
): Promise<CpuOutcome> => {
  const turns = new Turns(goOn);
  const done: CpuResult[] = [];
  for (const vector of vectors) {
    done.push(await pippenger(curve, pointsOf(curve, points, vector), vector.scalars, turns));
  }
  const { windowBits, windows } = done.reduce((most, each) => (each.entries > most.entries ? each : most));
  return {
    sums: done.map(({ sum }) => publicPoint(curve, toAffine(curve, sum))),
    windowBits,
    windows,
    entries: done.reduce((sum, each) => sum + each.entries, 0),
  };
};

/** Points of the scalars of a vector; none for none. */
const pointsOf = (
  { pointBytes }: CurveContext,
  points: Uint8Array<ArrayBuffer> | null,
  { offset, indices, load }: SurveyedVector,
): Uint8Array<ArrayBuffer> => {
  if (points === null || load.n === 0) return new Uint8Array(0);
  if (indices === null) return points.subarray(offset * pointBytes);
  const own = new Uint8Array(load.n * pointBytes);
  indices.forEach((index, i) => {
    const at = (offset + index) * pointBytes;
    own.set(points.subarray(at, at + pointBytes), i * pointBytes);
  });
  return own;
};
