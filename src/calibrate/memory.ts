import type { Calibration } from '../api/calibration.js';
import type { AdapterDescription } from '../api/device.js';
import { checkTuning } from '../msm/plan/check-tuning.js';
import { version } from '../version.js';
import type { CalibrationStore } from './store.js';

/** Limits that defaults are derived from. */
const limitNames = [
  'maxStorageBufferBindingSize',
  'maxBufferSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
  'maxComputeWorkgroupStorageSize',
] as const;

/** What a result is remembered by; null for an adapter that does not say its name, as every other such adapter would find it. */
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

/** Whether any setting worked; else whatever was in the way is to be tried again, and not to be remembered. */
const hasWorked = ({ trials }: Calibration): boolean => trials.some(({ ms }) => ms !== null);

/** What a store remembers under a name, if it is what one would have written there. */
export const recall = async (store: CalibrationStore | null, name: string | null): Promise<Calibration | null> => {
  if (store === null || name === null) return null;
  try {
    const text = await store.get(name);
    if (text === null) return null;
    const known = JSON.parse(text) as Calibration;
    return hasWorked(known) ? { ...known, tuning: checkTuning(known.tuning), remembered: true } : null;
  } catch {
    return null;
  }
};

/** Where it cannot be remembered, that costs the next one time, and nobody anything else. */
export const remember = async (
  store: CalibrationStore | null,
  name: string | null,
  calibration: Calibration,
): Promise<void> => {
  if (store === null || name === null || !hasWorked(calibration)) return;
  try {
    await store.set(name, JSON.stringify(calibration));
  } catch {}
};
