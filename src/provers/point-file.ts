/** Points that are read in chunks, as snarkjs reads them from a key. */
import { roomFor } from '../engine/bytes.js';
import { badArgument } from '../errors.js';
import type { PointReader } from './ffjavascript.js';

/** Where points are read from. */
export interface PointFile {
  readonly byteLength: number;
  readonly pointBytes: number;
  readonly read: PointReader;
}

/** Bytes of the first chunk, which mostly tells whether points are those that are there, and of the others. */
const [FIRST_BYTES, CHUNK_BYTES] = [2 ** 16, 2 ** 22];

/**
 * Reads points from the first one on, for as long as `look` wants more of them.
 *
 * @throws MsmError `bad-argument` for a chunk of another length than was asked for; and what reading throws
 */
export const readWhile = async (
  { byteLength, pointBytes, read }: PointFile,
  look: (chunk: Uint8Array, at: number) => boolean,
  goesOn = true,
): Promise<void> => {
  for (let at = 0; goesOn && at < byteLength; ) {
    const most = Math.floor((at === 0 ? FIRST_BYTES : CHUNK_BYTES) / pointBytes) * pointBytes;
    const length = Math.min(most, byteLength - at);
    const chunk = await read(at, length);
    if (!(chunk instanceof Uint8Array) || chunk.length !== length)
      throw badArgument(`points: the reader gave ${chunk?.length} bytes from ${at} on, and not ${length}`);
    goesOn = look(chunk, at);
    at += length;
  }
};

/** All points, in one array. @param goOn called between chunks; what it throws ends the reading */
export const readAll = async (file: PointFile, checkpoint: () => void): Promise<Uint8Array> => {
  const all = roomFor('points', file.byteLength, 1, 'bytes');
  await readWhile(file, (chunk, at) => {
    checkpoint();
    all.set(chunk, at);
    return true;
  });
  return all;
};
