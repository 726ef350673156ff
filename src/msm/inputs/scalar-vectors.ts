/** Scalar vectors of a call, and the bases that they multiply. */
import type { CurveContext } from '../../curves/curve.js';
import { fullWorkload, type SurveyedVector, survey, type TableShape } from '../plan/workload.js';
import type { DeviceVector, FieldScalars } from './field-scalars.js';
import type { LoadedScalars } from './loaded-scalars.js';

/** How scalars are converted to little-endian bytes, in place, when their call has its turn. */
export interface UnreadScalars {
  /** The scalars as numbers; null where `scalars` has them in another encoding. */
  readonly numbers: readonly bigint[] | null;
  /** Number of scalars converted so far. */
  done: number;
}

/** A scalar vector. Its scalar i multiplies the base `offset + i`. */
export interface ScalarVector {
  readonly scalars: Uint8Array<ArrayBuffer>;
  readonly n: number;
  readonly offset: number;
  /** Absent if the caller gave little-endian bytes. */
  readonly unread?: UnreadScalars | undefined;
  /** Handle of the scalars; null if they were not loaded before. */
  readonly loaded: LoadedScalars | null;
  /** Vector of a field engine, which has the scalars; `scalars` is empty. */
  readonly computed?: FieldScalars;
}

/** A scalar vector and its survey. */
export interface SurveyedScalars extends SurveyedVector, Pick<ScalarVector, 'loaded'> {
  /** Vector on the device, which has the scalars; `scalars` is empty. */
  readonly onDevice?: DeviceVector;
}

/**
 * Surveys scalars, to plan by the result. Loaded scalars are surveyed once. Those on a device count
 * as scalars of full length.
 */
export const surveyScalars = (
  curve: CurveContext,
  { scalars, n, offset, loaded, computed }: ScalarVector,
  tables: TableShape,
  picks: boolean,
): SurveyedScalars => {
  const onDevice = computed?.onDevice ?? null;
  if (onDevice !== null) {
    return { load: fullWorkload(n, curve, tables), scalars, indices: null, offset, loaded, onDevice };
  }
  const look = () => survey(curve, scalars, tables, picks);
  // a survey depends on nothing else but the order, and one handle has one order
  const key = [curve.negatesScalars, picks, tables.count, tables.bits].join(' ');
  return { ...(loaded?.remembered(key, look) ?? look()), offset, loaded };
};
