import { makeProblem } from '../calibrate/problem.js';
import type { Subject } from '../calibrate/subject.js';
import type { CurveContext } from '../curves/curve.js';
import type { OpenDevice } from '../gpu/device.js';
import { schedulerOf } from '../gpu/device-scheduler.js';
import { compileTimes } from '../gpu/pipelines.js';
import { checkTuning } from '../msm/plan/tuning.js';
import { version } from '../version.js';

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
