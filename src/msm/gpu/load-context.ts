import type { CurveContext } from '../../curves/curve.js';
import type { DeviceProfile } from '../plan/device-defaults.js';
import type { Knobs } from '../plan/tuning.js';
import type { Kernels } from '../stages/kernels.js';

/** What loading has to know. */
export interface LoadContext {
  readonly curve: CurveContext;
  readonly kernels: Kernels;
  readonly limits: DeviceProfile;
  readonly tuning: Knobs;
  /** Additions a millisecond that the device may be counted on for. */
  readonly additionsPerMs: number;
}
