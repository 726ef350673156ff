/** What an engine lends to a calibration, and the calibration that its first use measures. */
import type { CalibrationStore } from '../api/device.js';
import type { FirstUse as CalibrationAtFirstUse, FirstUseSubject } from '../calibrate/first-use.js';
import { makeProblem, type Subject } from '../calibrate/subject.js';
import type { CurveContext } from '../curves/curve.js';
import { compileTimes, type OpenDevice } from '../gpu/device.js';
import { schedulerOf } from '../gpu/device-scheduler.js';
import { checkTuning } from '../msm/plan/tuning.js';
import { version } from '../version.js';

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

/** Makes the subject of a calibration. @param open creates an engine of the curve on the device */
export const subjectOf = (
  curve: CurveContext,
  { device, adapter }: Pick<OpenDevice, 'device' | 'adapter'>,
  open: Subject['open'],
): Subject => ({
  ...{ device, adapter, open, version, checkTuning, curve: curve.name },
  makeProblem: (n, random) => makeProblem(curve, n, random),
  compileMs: () => compileTimes(device).reduce((sum, { ms }) => sum + ms, 0),
  isBusy: () => schedulerOf(device).isBusyBeside({ priority: 'background', since: 0, deadline: null }),
});
