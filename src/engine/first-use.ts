import type { CalibrationStore } from '../api/calibration.js';
import type { FirstUse as CalibrationAtFirstUse, FirstUseSubject } from '../calibrate/first-use.js';

/** The calibration of an engine that was created with `calibrate: 'first-use'`. */
export type FirstUse = Pick<CalibrationAtFirstUse, 'calibration' | 'state' | 'note' | 'destroy'>;

/** The options `calibrate` and `calibrationStore`, where the first is given. */
export interface FirstUseOptions {
  /** undefined: the store of the platform. */
  readonly store: CalibrationStore | null | undefined;
}

/** Takes the place of a calibration whose code could not be loaded. */
const failed: FirstUse = { calibration: null, state: 'failed', note: () => undefined, destroy: () => undefined };

/**
 * Loads the calibration of an engine, and what is remembered. Returns null for a software adapter,
 * whose defaults were measured. Never rejects.
 */
export const openFirstUse = async (subject: FirstUseSubject): Promise<FirstUse | null> => {
  if (subject.adapter.software) return null;
  const loaded = await import('../calibrate/first-use.js').catch(() => null);
  return loaded === null ? failed : loaded.FirstUse.begin(subject);
};
