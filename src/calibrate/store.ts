/** Where calibrations are remembered: their names, their texts, and IndexedDB. */
import type { Calibration, CalibrationStore } from '../api/device.js';
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

const DATABASE = 'webgpu-msm';
const TABLE = 'calibrations';

/** The used part of IndexedDB. The library is compiled without the types of the DOM. */
interface Request {
  readonly result: unknown;
  readonly error: unknown;
  onsuccess: (() => void) | null;
  onerror: (() => void) | null;
  onblocked?: (() => void) | null;
  onupgradeneeded?: (() => void) | null;
}
interface Database {
  createObjectStore(name: string): unknown;
  transaction(table: string, mode: 'readonly' | 'readwrite'): { objectStore(name: string): ObjectStore };
  close(): void;
}
interface ObjectStore {
  get(key: string): Request;
  put(value: string, key: string): Request;
}
interface IndexedDb {
  open(name: string, version: number): Request;
}

const done = (request: Request): Promise<unknown> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error('the database is blocked'));
  });

/**
 * Returns IndexedDB, or undefined. Browsers may deny access to the property, as in a sandboxed
 * frame.
 */
const findIndexedDb = (): IndexedDb | undefined => {
  try {
    return (globalThis as { indexedDB?: IndexedDb }).indexedDB;
  } catch {
    return undefined;
  }
};

/**
 * Returns a store in the IndexedDB of the page's origin; null without IndexedDB, as in Node.
 *
 * @example
 * ```ts
 * import { indexedDbStore } from 'webgpu-msm/calibrate';
 *
 * // for calibrate(device, { store }): remembers at least until the program ends
 * const texts = new Map();
 * const store = indexedDbStore() ?? {
 *   get: async (name) => texts.get(name) ?? null,
 *   set: async (name, text) => void texts.set(name, text),
 * };
 * ```
 */
export const indexedDbStore = (): CalibrationStore | null => {
  const indexedDB = findIndexedDb();
  if (!indexedDB) return null;
  const use = async (mode: 'readonly' | 'readwrite', ask: (table: ObjectStore) => Request): Promise<unknown> => {
    const opening = indexedDB.open(DATABASE, 1);
    opening.onupgradeneeded = () => (opening.result as Database).createObjectStore(TABLE);
    const database = (await done(opening)) as Database;
    try {
      return await done(ask(database.transaction(TABLE, mode).objectStore(TABLE)));
    } finally {
      database.close();
    }
  };
  return {
    get: async (name) => {
      const text = await use('readonly', (table) => table.get(name));
      return typeof text === 'string' ? text : null;
    },
    set: async (name, text) => {
      await use('readwrite', (table) => table.put(text, name));
    },
  };
};
