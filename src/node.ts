/**
 * What the library has for Node alone.
 *
 * @module
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
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

/**
 * A store for `calibrate` in a JSON file. Its folder is made when something is to be remembered.
 *
 * @param path such as `~/.cache/webgpu-msm.json` spelt out; who may write there decides what an engine is tuned like, never what it computes
 */
export const fileStore = (path: string): CalibrationStore => ({
  get: async (name) => {
    const text = (await read(path))[name];
    return typeof text === 'string' ? text : null;
  },
  set: async (name, text) => {
    await mkdir(dirname(path), { recursive: true });
    // renamed, so that nobody ever reads half of it
    const fresh = `${path}.${process.pid}`;
    await writeFile(fresh, `${JSON.stringify({ ...(await read(path)), [name]: text }, null, 2)}\n`);
    await rename(fresh, path);
  },
});
