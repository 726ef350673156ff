import type { PagedBytes, PointEncoding } from '../api/values.js';
import type { CurvesOf, Group } from '../curves/more-curves.js';
import { badArgument, show } from '../errors.js';
import { type OptionTable, readOptions } from '../option-table.js';
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
  readonly from?: number | undefined;
  /** Index after the last point. Default: `count`. */
  readonly to?: number | undefined;
  /** The most bytes of a chunk. A chunk has at least one point. Default 16 MiB. */
  readonly chunkBytes?: number | undefined;
}

/** `PointSection.chunks`; the range is checked with the section. */
const chunkOptions = {
  of: 'chunks',
  rows: { from: { kind: 'any' }, to: { kind: 'any' }, chunkBytes: { kind: 'any', default: CHUNK_BYTES } },
} as const satisfies OptionTable<ChunkOptions>;

/** Consecutive points of a file, unchecked: `loadBases` checks them. */
export interface PointSection<Encoding extends PointEncoding = PointEncoding> {
  /** The name of the section in the format. */
  readonly name: string;
  /** The curve, for `createMsmEngine({ curve, group })`. */
  readonly curve: FileCurve;
  /** The group, for `createMsmEngine({ curve, group })`. */
  readonly group: Group;
  /** The encoding of the points, for `loadBases(points, { encoding })`. */
  readonly encoding: Encoding;
  /** Number of points. */
  readonly count: number;
  /** Bytes of a point. */
  readonly pointBytes: number;
  /** Bytes of all points: `count · pointBytes`. */
  readonly byteLength: number;
  /**
   * Returns the points [from, to): a view if the file is in memory, else a new array, read 16 MiB
   * at a time.
   *
   * @throws MsmError `bad-argument` for a range outside of the section, or a source that returns
   * other bytes than asked for
   * @example
   * ```ts
   * const first = await section.points(0, 1);
   * console.log(first.length === section.pointBytes); // true
   * ```
   */
  points(from?: number, to?: number): Promise<Uint8Array>;
  /**
   * Yields the points in chunks of whole points, for sections that are too large for memory.
   *
   * @throws MsmError `bad-argument` as `points` does, and for invalid options
   * @example
   * ```ts
   * let points = 0;
   * for await (const chunk of section.chunks({ chunkBytes: 2 ** 20 })) {
   *   points += chunk.length / section.pointBytes;
   * }
   * console.log(points === section.count); // true
   * ```
   */
  chunks(options?: ChunkOptions): AsyncGenerator<Uint8Array, void, undefined>;
  /**
   * Returns the points [from, to) as pages, which `loadBases` reads itself, 16 MiB at a time, so
   * that memory holds no second copy. The file must be in memory, or its `read` must return bytes
   * and no promise, as one over Node's `readSync` does.
   *
   * @throws MsmError `bad-argument` as `points` does; `slice` too
   * @example
   * ```ts
   * const bases = await engine.loadBases(section.pages(), { encoding: section.encoding });
   * console.log(bases.length === section.count); // true
   * ```
   */
  pages(from?: number, to?: number): PagedBytes;
}

/** The position of points in a file. */
export interface Place<Encoding extends PointEncoding>
  extends Pick<PointSection<Encoding>, 'name' | 'curve' | 'group' | 'encoding' | 'count' | 'pointBytes'> {
  /** Position of the first byte. */
  readonly at: number;
}

export const pointSection = <Encoding extends PointEncoding>(
  file: OpenFile,
  { at, ...what }: Place<Encoding>,
): PointSection<Encoding> => {
  const { name, count, pointBytes } = what;
  const checkRange = (items: string, from: number, to: number, end: number): void => {
    if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to) || from < 0 || from > to || to > end) {
      throw badArgument(`${file.what}: ${items} [${show(from)}, ${show(to)}) of ${name} are not in [0, ${end})`);
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
      const { from = 0, to = count, chunkBytes } = readOptions(chunkOptions, options);
      checkPoints(from, to);
      if (!Number.isSafeInteger(chunkBytes) || chunkBytes < 1) {
        throw badArgument(`${file.what}: chunkBytes must be a positive integer, got ${show(chunkBytes)}`);
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
