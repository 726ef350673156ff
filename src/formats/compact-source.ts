/** Tells compact keys from `.zkey` files, and opens them. The code that unpacks is loaded with the first one. */
import { notLoaded } from '../errors.js';
import { HEADER_BYTES } from './binfile.js';
import type { CompactKey } from './compact-key.js';
import type { RootPlaces } from './point-roots.js';
import { COMPACT_MAGIC, type OpenFile, openFile, readRange } from './source.js';

/** Reads the bytes before the first section of a `.zkey`, or as many as there are. */
const readHead = (file: OpenFile): Promise<Uint8Array> => readRange(file, 0, Math.min(HEADER_BYTES, file.byteLength));

/** Returns whether a file begins as compact keys do. @param head its first bytes */
export const isCompactHead = (head: Uint8Array): boolean =>
  [...COMPACT_MAGIC].every((letter, i) => head[i] === letter.charCodeAt(0));

/** Returns whether a file begins as compact keys do. */
export const isCompact = async (file: OpenFile): Promise<boolean> => isCompactHead(await readHead(file));

/** A `.zkey`, and the bytes before its first section, if they have been read. */
export interface ZkeyFile {
  readonly file: OpenFile;
  readonly head?: Uint8Array | undefined;
}

/**
 * Returns the `.zkey` of a file: the file itself, or what a compact key gives where it is read.
 *
 * @param places where square roots are computed
 * @param signal ends every read
 * @throws MsmError `bad-argument` if it is a compact key that is damaged, or of another version
 */
export const zkeyOf = async (file: OpenFile, places: RootPlaces = {}, signal?: AbortSignal): Promise<ZkeyFile> => {
  const head = await readHead(file);
  return isCompactHead(head) ? { file: openFile('zkey', await openCompact(file, places), signal) } : { file, head };
};

/** Opens a compact key. @throws MsmError `bad-argument` if it is damaged, or of another version */
export const openCompact = async (file: OpenFile, places: RootPlaces = {}): Promise<CompactKey> =>
  (await import('./compact-key.js').catch(notLoaded('compact-key'))).CompactKey.open(file, places);
