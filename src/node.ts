/**
 * What the library has for Node alone.
 *
 * @module
 */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { CalibrationStore } from './calibrate/store.js';

/** What a file holds; nothing where it is not there, or is no longer what it was. */
const read = async (path: string): Promise<Record<string, string>> => {
  try {
    const known: unknown = JSON.parse(await readFile(path, 'utf8'));
    return typeof known === 'object' && known !== null ? (known as Record<string, string>) : {};
  } catch {
    return {};
  }
};

/** The last write to each file that this process is at: the next one waits for it, and reads what it wrote. */
const writing = new Map<string, Promise<void>>();

/** Another process may write between our reading and our renaming; then what it did not know of is written again. */
const ATTEMPTS = 5;

const write = async (path: string, name: string, text: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true });
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    // renamed, so that nobody ever reads half of it; a name that nobody can foresee, and no file or link that was there before
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
 * A store for `calibrate` of `webgpu-msm/calibrate` in a JSON file. Its folder is made when something is to be remembered.
 *
 * @param path such as `~/.cache/webgpu-msm.json` spelt out; who may write there decides what an engine is tuned like, never what it computes
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
