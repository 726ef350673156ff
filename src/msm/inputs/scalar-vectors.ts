/** Scalars of a call, and which bases they multiply. */
import type { CurveContext } from '../../curves/curve.js';
import { type SurveyedVector, survey } from '../plan/survey.js';
import type { TableShape } from '../plan/workload.js';
import type { LoadedScalars } from './loaded-scalars.js';

/** What is multiplied: scalar i of a vector with base `offset + i`. */
export interface ScalarVector {
  readonly scalars: Uint8Array<ArrayBuffer>;
  readonly n: number;
  readonly offset: number;
  /** Where they are from, if they were loaded before. */
  readonly loaded: LoadedScalars | null;
}

/** Factors that were looked at. */
export type SurveyedScalars = SurveyedVector & Pick<ScalarVector, 'loaded'>;

/** Looks at scalars to plan by them; at loaded ones, once. */
export const surveyScalars = (
  curve: CurveContext,
  { scalars, offset, loaded }: ScalarVector,
  tables: TableShape,
  picks: boolean,
): SurveyedScalars => {
  const look = () => survey(curve, scalars, tables, picks);
  // all else that a survey goes by is the order's
  const key = [curve.negatesScalars, picks, tables.count, tables.bits].join(' ');
  return { ...(loaded?.remembered(key, look) ?? look()), offset, loaded };
};
