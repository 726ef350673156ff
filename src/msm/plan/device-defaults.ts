import type { Tuning } from '../../api/tuning.js';
import type { FieldProduct } from '../../field/modulus.js';

/** What the defaults depend on. */
export interface DeviceProfile {
  readonly software: boolean;
  /** How its chip multiplies best. */
  readonly product: FieldProduct;
  /** Additions a millisecond in the walk, as measured by an earlier run; null before. */
  readonly additionsPerMs: number | null;
  readonly maxComputeInvocationsPerWorkgroup: number;
  readonly maxComputeWorkgroupSizeX: number;
  readonly maxComputeWorkgroupStorageSize: number;
}

/** How long a submit should hold a GPU: no animation stutters for longer than one would notice, no watchdog is near. */
export const SUBMIT_MS = 100;

/** Additions of a submit before anything was measured: 60 ms on the slowest phone that DESIGN §3 has numbers of (Pixel 10). */
export const UNMEASURED_BOUND = 2 ** 18;

/** A power of two, so that small changes of the measurement do not change the plan. */
const submitBound = (additionsPerMs: number | null): number =>
  additionsPerMs === null
    ? UNMEASURED_BOUND
    : 2 ** Math.min(30, Math.max(16, Math.floor(Math.log2(SUBMIT_MS * additionsPerMs))));

const defaultAdditionsPerSubmit = (device: DeviceProfile): number =>
  device.software ? 2 ** 30 : submitBound(device.additionsPerMs);

/** What a submit may do; needs no plan. */
export const additionsPerSubmitOf = (device: DeviceProfile, overrides: Partial<DeviceKnobs>): number =>
  overrides.additionsPerSubmit ?? defaultAdditionsPerSubmit(device);

/** What the pipelines and the resident bases depend on; needs no plan. */
export const fieldProductOf = (device: Pick<DeviceProfile, 'product'>, overrides: Partial<DeviceKnobs>): FieldProduct =>
  overrides.fieldProduct ?? device.product;

/** The knobs that depend on the device alone. */
type DeviceKnobs = Omit<Tuning, 'windowBits'>;

/**
 * What the knobs are where nobody set them.
 *
 * A software adapter has a few cores and no latency to hide: few threads with many slots each. A GPU wants tens of thousands
 * of threads, and slots cost it registers and cache.
 */
export const deviceDefaults = (device: DeviceProfile): DeviceKnobs => ({
  walkerPrefixMemory: 'private',
  walkerThreadsPerWorkgroup: device.software ? 16 : 64,
  walkerSlots: device.software ? 32 : 8,
  walkerTasks: device.software ? 2 ** 12 : 2 ** 17,
  walkerEntriesPerTask: 32,
  walkerLeastThreads: device.software ? 16 : 2 ** 12,
  additionsPerSubmit: defaultAdditionsPerSubmit(device),
  fieldProduct: device.product,
  sortThreadsPerWorkgroup: device.software ? 16 : 64,
  sortEntriesPerThread: device.software ? 128 : 32,
  cpuBelow: null,
  cpuDistribution: 'dynamic',
  cpuChunk: 0,
});
