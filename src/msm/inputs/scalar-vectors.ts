/** Scalar vectors of a call, and the bases that they multiply. */
import type { CurveContext } from '../../curves/curve.js';
import { type SurveyedVector, survey } from '../plan/survey.js';
import type { TableShape } from '../plan/workload.js';
import type { LoadedScalars } from './loaded-scalars.js';

/** A scalar vector. Its scalar i multiplies the base `offset + i`. */
export interface ScalarVector {
  readonly scalars: Uint8Array<ArrayBuffer>;
  readonly n: number;
  readonly offset: number;
  /** Handle of the scalars; null if they were not loaded before. */
  readonly loaded: LoadedScalars | null;
}

/** A scalar vector and its survey. */
export type SurveyedScalars = SurveyedVector & Pick<ScalarVector, 'loaded'>;

/** Surveys scalars, to plan by the result. Loaded scalars are surveyed once. */
export const surveyScalars = (
  curve: CurveContext,
  { scalars, offset, loaded }: ScalarVector,
  tables: TableShape,
  picks: boolean,
): SurveyedScalars => {
  const look = () => survey(curve, scalars, tables, picks);
  // a survey depends on nothing else but the order, and one handle has one order
  const key = [curve.negatesScalars, picks, tables.count, tables.bits].join(' ');
  return { ...(loaded?.remembered(key, look) ?? look()), offset, loaded };
};
