import type { Tuning } from '../../api/tuning.js';
import type { Degree, FieldProduct } from '../../field/modulus.js';
import type { ClassKnobs } from './device-profiles.js';

/** Properties of a device that the defaults of the knobs depend on. */
export interface DeviceProfile {
  /** Defaults of its class of adapters. */
  readonly knobs: ClassKnobs;
  /** Whether it is a large GPU: groups take the whole budget, the first submits are larger. */
  readonly isWide?: boolean | undefined;
  /** The product that the device computes fastest. */
  readonly product: FieldProduct;
  /** Additions per millisecond in the walk, measured by an earlier run; null before. */
  readonly additionsPerMs: number | null;
  readonly maxComputeInvocationsPerWorkgroup: number;
  readonly maxComputeWorkgroupSizeX: number;
  readonly maxComputeWorkgroupStorageSize: number;
}

/**
 * Time that a submit may hold a GPU, in ms: too short for a visible stutter of an animation, and
 * far from the limit of a watchdog.
 */
export const SUBMIT_MS = 100;

/**
 * Additions of a submit before anything was measured: 60 ms on a Google Pixel 10, the slowest phone
 * with published results.
 */
export const UNMEASURED_BOUND = 2 ** 18;

/** The same on a large GPU: 200 ms on the slowest graphics cards, 2 ms on an H200. */
export const UNMEASURED_WIDE_BOUND = 2 ** 21;

/** Returns a power of two, so that small changes of the measurement do not change the plan. */
const submitBound = ({ additionsPerMs, isWide }: DeviceProfile): number =>
  additionsPerMs === null
    ? isWide
      ? UNMEASURED_WIDE_BOUND
      : UNMEASURED_BOUND
    : 2 ** Math.min(30, Math.max(16, Math.floor(Math.log2(SUBMIT_MS * additionsPerMs))));

const defaultAdditionsPerSubmit = (device: DeviceProfile): number =>
  device.knobs.additionsPerSubmit ?? submitBound(device);

/** Returns the most additions of a submit, which is known before any plan. */
export const additionsPerSubmitOf = (device: DeviceProfile, overrides: Partial<DeviceKnobs>): number =>
  overrides.additionsPerSubmit ?? defaultAdditionsPerSubmit(device);

/**
 * Returns the product that pipelines and resident bases are made for, which is known before any
 * plan.
 */
export const fieldProductOf = (device: Pick<DeviceProfile, 'product'>, overrides: Partial<DeviceKnobs>): FieldProduct =>
  overrides.fieldProduct ?? device.product;

/** Knobs whose defaults depend on the device alone. */
type DeviceKnobs = Omit<Tuning, 'windowBits'>;

/**
 * Returns the defaults of the knobs on a device.
 *
 * @param degree degree of the field of coordinates over F_p
 */
export const deviceDefaults = (device: DeviceProfile, degree: Degree = 1): DeviceKnobs => {
  const { pairs, ...knobs } = device.knobs;
  return {
    walkerPrefixMemory: 'private',
    ...knobs,
    ...(degree === 2 ? pairs : {}),
    additionsPerSubmit: defaultAdditionsPerSubmit(device),
    fieldProduct: device.product,
    cpuBelow: null,
    cpuDistribution: 'dynamic',
    cpuChunk: 0,
    cpuArithmetic: 'auto',
  };
};
