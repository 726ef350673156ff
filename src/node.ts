/**
 * Functions for Node alone.
 *
 * @module
 */
import { mkdir, open, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { CalibrationStore } from './api/device.js';
import { badArgument, show } from './errors.js';
import { type DiskFile, FileOnDisk } from './formats/disk-file.js';
import { type KeyCache, KeyCacheAt, type KeyCacheOptions, mostBytesOf } from './formats/key-cache.js';

export type { DiskFile } from './formats/disk-file.js';
export type { CachedKey, KeyCache, KeyCacheOptions } from './formats/key-cache.js';
export type { RandomAccess } from './formats/source.js';

/** Reads the texts of a file; none if the file is missing or damaged. */
const read = async (path: string): Promise<Record<string, string>> => {
  try {
    const known: unknown = JSON.parse(await readFile(path, 'utf8'));
    return typeof known === 'object' && known !== null ? (known as Record<string, string>) : {};
  } catch {
    return {};
  }
};

/** The last pending write of each file. The next write waits for it, and then reads its result. */
const writing = new Map<string, Promise<void>>();

/**
 * Most attempts at a write. Another process may write between the read and the rename, and drop the
 * text.
 */
const ATTEMPTS = 5;

const write = async (path: string, name: string, text: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true });
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    // a rename, so that no reader sees half a file; an unpredictable name and `wx`, so that no
    // existing file or link is used
    const fresh = `${path}.${crypto.randomUUID()}`;
    try {
      const contents = `${JSON.stringify({ ...(await read(path)), [name]: text }, null, 2)}\n`;
      await writeFile(fresh, contents, { flag: 'wx' });
      await rename(fresh, path);
    } catch (error) {
      await rm(fresh, { force: true });
      throw error;
    }
    if ((await read(path))[name] === text) return;
  }
};

/**
 * Returns a store for `calibrate` of `webgpu-msm/calibrate` in a JSON file. The first write creates
 * its folder.
 *
 * @param path the file, such as `/home/me/.cache/webgpu-msm.json`; `~` is not expanded. Whoever can
 * write the file decides how engines are tuned, never what they compute
 * @example
 * ```ts
 * import { fileStore } from 'webgpu-msm/node';
 *
 * const store = fileStore('calibrations.json'); // for calibrate(device, { store })
 * console.log(await store.get('an adapter without a calibration')); // null
 * ```
 */
export const fileStore = (path: string): CalibrationStore => ({
  get: async (name) => {
    const text = (await read(path))[name];
    return typeof text === 'string' ? text : null;
  },
  set: (name, text) => {
    const file = resolve(path);
    const own = (writing.get(file) ?? Promise.resolve()).then(() => write(file, name, text));
    const settled = own.catch(() => undefined);
    writing.set(file, settled);
    void settled.then(() => writing.get(file) === settled && writing.delete(file));
    return own;
  },
});

/**
 * Opens a file that is read by ranges, for every argument that takes a `FileSource`: keys, witnesses
 * and setups of any size. Works in Deno and Bun, too. The file is open while it is read, and no
 * longer; it must not change. `openAsBlob` of Node counts the bytes of files above 4 GiB wrongly,
 * and that of Deno reads the whole file.
 *
 * @param path the file, as functions of `node:fs` take it
 * @throws MsmError `bad-argument` if the path is no regular file; and errors of the file system
 * @example
 * ```ts
 * import { openZkey } from 'webgpu-msm/formats';
 * import { openFile } from 'webgpu-msm/node';
 *
 * const file = await openFile('circuit.zkey');
 * const { protocol } = await openZkey(file);
 * console.log(protocol); // groth16
 * await file.close(); // or `await using file`
 * ```
 */
export const openFile = (path: string | URL): Promise<DiskFile> => FileOnDisk.open({ open, realpath }, path);

/**
 * Returns a cache of keys in a folder, for the option `cache` of `openProvingKey`, `openCircuit` and
 * `accelerate`. A key that it has is not checked again, and of the source only the header is read.
 * Every page of a key has a digest, which is compared whenever the page is read. Whoever can write
 * the folder decides which keys are used. Several processes may use it at a time.
 *
 * @param path the folder, which is created; `~` is not expanded
 * @throws MsmError `bad-argument` for a path that is none
 * @example
 * ```ts
 * import { openProvingKey } from 'webgpu-msm/groth16';
 * import { folderCache, openFile } from 'webgpu-msm/node';
 *
 * const cache = folderCache('keys');
 * const key = await openProvingKey(await openFile('circuit.zkey'), { cache });
 * const [last] = await cache.list();
 * console.log(last?.protocol); // groth16
 * key.destroy();
 * ```
 */
export const folderCache = (path: string, options?: KeyCacheOptions): KeyCache => {
  if (typeof path !== 'string' || path === '') throw badArgument(`folderCache: path must be a path, got ${show(path)}`);
  return new KeyCacheAt({ kind: 'disk', path: resolve(path), maxBytes: mostBytesOf('folderCache', options) });
};
