import type { PagedBytes, PointEncoding } from '../api/values.js';
import type { CurvesOf, Group } from '../curves/names.js';
import { badArgument, show } from '../errors.js';
import { ownOptions } from '../own-options.js';
import { CHUNK_BYTES, type OpenFile, readRange } from './source.js';

/**
 * Curves whose points the readers of this module find in files.
 *
 * @useDeclaredType
 */
export type FileCurve = keyof CurvesOf<'snarkjs' | 'gnark'>;

/** Options of `PointSection.chunks`. */
export interface ChunkOptions {
  /** Index of the first point. Default 0. */
  readonly from?: number;
  /** Index behind the last one. Default: all. */
  readonly to?: number;
  /** The most bytes of a chunk, which has one point at least. Default 16 MiB. */
  readonly chunkBytes?: number;
}

/**
 * Points that lie one behind the other in a file. None of them was looked at: `loadBases` checks
 * them.
 */
export interface PointSection<Encoding extends PointEncoding = PointEncoding> {
  /** What the format calls it. */
  readonly name: string;
  /** For `createMsmEngine({ curve, group })`. */
  readonly curve: FileCurve;
  /** For `createMsmEngine({ curve, group })`. */
  readonly group: Group;
  /** For `loadBases(points, { encoding })`. */
  readonly encoding: Encoding;
  /** How many points there are. */
  readonly count: number;
  /** Bytes of a point. */
  readonly pointBytes: number;
  /** Bytes of all of them. */
  readonly byteLength: number;
  /**
   * The points [from, to), one behind the other: a view where the file is in memory, and else read
   * 16 MiB at a time into an array.
   *
   * @throws MsmError `bad-argument`
   */
  points(from?: number, to?: number): Promise<Uint8Array>;
  /**
   * The same in chunks of whole points, for what is not to be in memory at once.
   *
   * @throws MsmError `bad-argument`
   */
  chunks(options?: ChunkOptions): AsyncGenerator<Uint8Array, void, undefined>;
  /**
   * The points [from, to) as `loadBases` reads them by itself, 16 MiB at a time, so that there is
   * no second copy of them: of bytes in memory, and of sources whose `read` gives bytes and no
   * promise, as one over Node's `readSync` does.
   *
   * @throws MsmError `bad-argument`, also from `slice`
   */
  pages(from?: number, to?: number): PagedBytes;
}

/** Where points are in a file. */
export interface Place<Encoding extends PointEncoding>
  extends Pick<PointSection<Encoding>, 'name' | 'curve' | 'group' | 'encoding' | 'count' | 'pointBytes'> {
  /** The first byte of the first. */
  readonly at: number;
}

export const pointSection = <Encoding extends PointEncoding>(
  file: OpenFile,
  { at, ...what }: Place<Encoding>,
): PointSection<Encoding> => {
  const { name, count, pointBytes } = what;
  const checkRange = (items: string, from: number, to: number, end: number): void => {
    if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || from < 0 || from > to || to > end) {
      throw badArgument(`${file.what}: ${items} [${show(from)}, ${show(to)}) of ${name} are not within [0, ${end})`);
    }
  };
  const checkPoints = (from: number, to: number): void => checkRange('points', from, to, count);
  return {
    ...what,
    byteLength: count * pointBytes,
    points: async (from = 0, to = count) => {
      checkPoints(from, to);
      return readRange(file, at + from * pointBytes, at + to * pointBytes);
    },
    chunks: (options = {}) => {
      const { from = 0, to = count, chunkBytes = CHUNK_BYTES } = ownOptions(options);
      checkPoints(from, to);
      if (!Number.isSafeInteger(chunkBytes) || chunkBytes < 1) {
        throw badArgument(`${file.what}: chunkBytes must be a number of bytes, got ${show(chunkBytes)}`);
      }
      const each = Math.max(1, Math.floor(chunkBytes / pointBytes));
      return (async function* () {
        for (let i = from; i < to; i += each) {
          yield await readRange(file, at + i * pointBytes, at + Math.min(to, i + each) * pointBytes);
        }
      })();
    },
    pages: (from = 0, to = count) => {
      checkPoints(from, to);
      const start = at + from * pointBytes;
      const byteLength = (to - from) * pointBytes;
      return {
        byteLength,
        slice: (first, last) => {
          checkRange('bytes', first, last, byteLength);
          return file.readNow(start + first, start + last);
        },
      };
    },
  };
};
