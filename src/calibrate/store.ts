import type { CalibrationStore } from '../api/calibration.js';

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
