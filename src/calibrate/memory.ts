import type { Calibration, CalibrationStore } from '../api/calibration.js';
import type { Subject } from './subject.js';

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
export const rememberedName = ({
  version,
  curve,
  adapter,
  device: { limits, features },
}: Pick<Subject, 'version' | 'curve' | 'adapter'> & {
  readonly device: Pick<GPUDevice, 'limits' | 'features'>;
}): string | null => {
  const { vendor, architecture, device, description } = adapter;
  const name = [vendor, architecture, device, description];
  if (name.join('') === '') return null;
  return JSON.stringify([version, curve, ...name, limitNames.map((limit) => limits[limit]), [...features].sort()]);
};

/**
 * Returns whether any setting worked. A failure of all settings is not remembered, so that it is
 * tried again.
 */
export const hasWorked = ({ trials }: Calibration): boolean => trials.some(({ ms }) => ms !== null);

/**
 * Reads a result from a store; null if there is none, or it is not a valid result.
 *
 * @param checkTuning throws for invalid knobs
 */
export const recall = async (
  store: CalibrationStore | null,
  name: string | null,
  { checkTuning }: Pick<Subject, 'checkTuning'>,
): Promise<Calibration | null> => {
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
