/** Points that are read in chunks, as snarkjs reads those of a key. */
import { roomFor } from '../engine/arguments.js';
import { badArgument } from '../errors.js';
import type { PointReader } from './ffjavascript.js';

/** A source of points. */
export interface PointFile {
  readonly byteLength: number;
  readonly pointBytes: number;
  readonly read: PointReader;
}

/**
 * Bytes of the first chunk, which mostly tells whether the points are loaded already, and of later
 * chunks.
 */
const [FIRST_BYTES, CHUNK_BYTES] = [2 ** 16, 2 ** 22];

/**
 * Reads points chunk by chunk from the first one on, until `look` returns false.
 *
 * @param wantsMore false: read nothing
 * @throws MsmError `bad-argument` if the reader returns a chunk of a wrong length; and errors of
 * the reader
 */
export const readWhile = async (
  { byteLength, pointBytes, read }: PointFile,
  look: (chunk: Uint8Array, at: number) => boolean,
  wantsMore = true,
): Promise<void> => {
  for (let at = 0; wantsMore && at < byteLength; ) {
    const most = Math.floor((at === 0 ? FIRST_BYTES : CHUNK_BYTES) / pointBytes) * pointBytes;
    const length = Math.min(most, byteLength - at);
    const chunk = await read(at, length);
    if (!(chunk instanceof Uint8Array) || chunk.length !== length)
      throw badArgument(
        `points: the reader returned ${chunk?.length} bytes for [${at}, ${at + length}); it must return ${length}`,
      );
    wantsMore = look(chunk, at);
    at += length;
  }
};

/**
 * Reads all points into one array.
 *
 * @param checkpoint called before each chunk is stored; its errors end the reading
 */
export const readAll = async (file: PointFile, checkpoint: () => void): Promise<Uint8Array> => {
  const all = roomFor('points', file.byteLength, 1, 'bytes');
  await readWhile(file, (chunk, at) => {
    checkpoint();
    all.set(chunk, at);
    return true;
  });
  return all;
};
