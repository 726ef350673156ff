import type { Calibration } from '../api/calibration.js';
import type { AdapterDescription } from '../api/device.js';
import { checkTuning } from '../msm/plan/check-tuning.js';
import { version } from '../version.js';
import type { CalibrationStore } from './store.js';

/** Limits from which defaults of knobs derive. */
const limitNames = [
  'maxStorageBufferBindingSize',
  'maxBufferSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
  'maxComputeWorkgroupStorageSize',
] as const;

/**
 * Returns the key of a result in a store; null for an adapter without a name, which others could
 * not be told from.
 */
export const rememberedName = (
  adapter: AdapterDescription,
  { limits, features }: Pick<GPUDevice, 'limits' | 'features'>,
  curve: string,
): string | null => {
  const { vendor, architecture, device, description } = adapter;
  const name = [vendor, architecture, device, description];
  if (name.join('') === '') return null;
  return JSON.stringify([version, curve, ...name, limitNames.map((limit) => limits[limit]), [...features].sort()]);
};

/**
 * Returns whether any setting worked. A failure of all settings is not remembered, so that it is
 * tried again.
 */
const hasWorked = ({ trials }: Calibration): boolean => trials.some(({ ms }) => ms !== null);

/** Reads a result from a store; null if there is none, or it is not a valid result. */
export const recall = async (store: CalibrationStore | null, name: string | null): Promise<Calibration | null> => {
  if (!store || !name) return null;
  try {
    const text = await store.get(name);
    if (text === null) return null;
    const known = JSON.parse(text) as Calibration;
    return hasWorked(known) ? { ...known, tuning: checkTuning(known.tuning), remembered: true } : null;
  } catch {
    return null;
  }
};

/** Writes a result to a store. Ignores errors of the store: the next calibration measures again. */
export const remember = async (
  store: CalibrationStore | null,
  name: string | null,
  calibration: Calibration,
): Promise<void> => {
  if (!store || !name || !hasWorked(calibration)) return;
  try {
    await store.set(name, JSON.stringify(calibration));
  } catch {}
};
