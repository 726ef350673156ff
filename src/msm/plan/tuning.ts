import type { Tuning } from '../../api/tuning.js';
import type { CurveContext } from '../../curves/curve.js';
import { badArgument } from '../../errors.js';
import type { Instrument } from '../stages/instrument.js';
import { mostSlots, prefixBytes } from '../stages/walk.js';
import { type DeviceProfile, deviceDefaults } from './device-defaults.js';
import { defaultWindowBits } from './window-bits.js';
import type { Workload } from './workload.js';

/** Returns the knobs that are set; undefined counts as not set. */
export const given = <Set extends object>(tuning: Set): Set =>
  Object.fromEntries(Object.entries(tuning).filter(([, value]) => value !== undefined)) as Set;

/** Knobs that are set, and the instrument of the engine. */
export interface Knobs extends Partial<Tuning> {
  readonly instrument?: Instrument | undefined;
}

/**
 * Returns all knobs, with defaults for those that the caller left unset, and clamped to the limits
 * of the device.
 */
export const resolveTuning = (load: Workload, curve: CurveContext, device: DeviceProfile, overrides: Knobs): Tuning => {
  const { instrument: _, ...set } = given(overrides);
  const fixed = { ...deviceDefaults(device, curve.coordinates.degree), ...set };
  const wanted: Tuning = { windowBits: defaultWindowBits(load, fixed.additionsPerSubmit), ...fixed };
  const tuning: Tuning = {
    ...wanted,
    walkerSlots:
      wanted.walkerCoordinates === 'xyzz'
        ? 1
        : Math.min(wanted.walkerSlots, mostSlots(curve, wanted.walkerPrefixMemory)),
  };
  const fits =
    tuning.walkerPrefixMemory === 'private'
      ? Number.POSITIVE_INFINITY
      : Math.floor(device.maxComputeWorkgroupStorageSize / prefixBytes(curve, 1, tuning.walkerSlots));
  if (fits < 1) {
    throw badArgument(
      `tuning.walkerSlots: the prefix products of ${tuning.walkerSlots} slots do not fit the device's ` +
        `${device.maxComputeWorkgroupStorageSize} bytes of workgroup memory; use fewer slots or 'private' prefixes`,
    );
  }
  return {
    ...tuning,
    walkerThreadsPerWorkgroup: Math.min(
      tuning.walkerThreadsPerWorkgroup,
      fits,
      device.maxComputeInvocationsPerWorkgroup,
      device.maxComputeWorkgroupSizeX,
    ),
  };
};
