/** Tells compact keys from `.zkey` files, and opens them. The code that unpacks is loaded with the first one. */
import { notLoaded } from '../errors.js';
import { HEADER_BYTES } from './binfile.js';
import type { CompactKey } from './compact-key.js';
import type { RootWorkers } from './point-roots.js';
import { COMPACT_MAGIC, type FileSource, type OpenFile, openFile } from './source.js';

/** Returns whether a file begins as compact keys do. */
export const isCompact = async (file: OpenFile): Promise<boolean> => {
  if (file.byteLength < COMPACT_MAGIC.length) return false;
  // all of a header of a .zkey, so that a source which reads wrongly is told so as by the reader of it
  const head = await file.read(0, Math.min(HEADER_BYTES, file.byteLength));
  return [...COMPACT_MAGIC].every((letter, i) => head[i] === letter.charCodeAt(0));
};

/**
 * Returns the `.zkey` of a file: the file itself, or what a compact key gives where it is read.
 *
 * @param workers that compute square roots
 * @param signal ends every read
 * @throws MsmError `bad-argument` if it is a compact key that is damaged, or of another version
 */
export const zkeyOf = async (
  source: FileSource,
  workers: RootWorkers = {},
  signal?: AbortSignal,
): Promise<FileSource> => {
  const file = openFile('zkey', source, signal);
  if (!(await isCompact(file))) return source;
  return openCompact(file, workers);
};

/** Opens a compact key. @throws MsmError `bad-argument` if it is damaged, or of another version */
export const openCompact = async (file: OpenFile, workers: RootWorkers = {}): Promise<CompactKey> =>
  (await import('./compact-key.js').catch(notLoaded('compact-key'))).CompactKey.open(file, workers);
