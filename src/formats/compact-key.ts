/** Compact keys, which are read as the `.zkey` that they came from: each chunk is unpacked when it is read. */
import { badArgument } from '../errors.js';
import { computedReads } from '../handle.js';
import { ChunkCodec } from './compact-chunks.js';
import {
  type CompactChunk,
  firstChunkAt,
  itemBytesOf,
  mostItems,
  type ReadTable,
  readCompactTable,
} from './compact-file.js';
import type { RootPlaces } from './point-roots.js';
import { hexOf, sha256 } from './sha256.js';
import type { OpenFile, RandomAccess } from './source.js';

/** A chunk, and where it is. */
interface PlacedChunk extends CompactChunk {
  /** Position of its first byte in the `.zkey`, and behind its last one. */
  readonly from: number;
  readonly to: number;
  /** Position in the compact key. */
  readonly at: number;
}

/** The `.zkey` of a compact key, which unpacks the chunks that are read. */
export class CompactKey implements RandomAccess {
  readonly [computedReads] = true;
  readonly byteLength: number;
  /** Changes with each byte of the table, and so with each chunk: a cache tells keys apart by it. */
  readonly version: string;
  /** SHA-256 of the `.zkey`, in hexadecimal digits: what the file says, which reading does not check. */
  readonly sha256: string;
  readonly #file: OpenFile;
  readonly #chunks: readonly PlacedChunk[];
  readonly #codec: ChunkCodec;
  /**
   * Chunks that were read last, in their order. A cache reads whole pages, of which one has the end of a section
   * and the beginning of the next, or all chunks of a small key: with the last chunk alone each read unpacked
   * them all again.
   */
  readonly #kept = new Map<PlacedChunk, Uint8Array>();
  /** Most bytes of these chunks, and of the one that is being unpacked: two of the largest ones. */
  readonly #mostKept: number;
  /** One chunk is unpacked at a time. */
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(file: OpenFile, table: ReadTable, places: RootPlaces) {
    const { curve, byteLength, hash, chunks, digest } = table;
    this.byteLength = byteLength;
    this.sha256 = hexOf(hash);
    this.version = `compact ${hexOf(digest)}`;
    this.#file = file;
    this.#codec = new ChunkCodec(curve, places);
    this.#mostKept = 2 * mostItems.g1 * itemBytesOf('g1', curve);
    let [from, at] = [0, firstChunkAt];
    this.#chunks = chunks.map((chunk) => {
      const to = from + chunk.items * itemBytesOf(chunk.kind, curve);
      const placed = { ...chunk, from, to, at };
      from = to;
      at += chunk.packedBytes;
      return placed;
    });
  }

  /** @throws MsmError `bad-argument` if the file is damaged, cut off, or of another version */
  static async open(file: OpenFile, { maxWorkers, createWorker, openGpu }: RootPlaces): Promise<CompactKey> {
    return new CompactKey(file, await readCompactTable(file), { maxWorkers, createWorker, openGpu });
  }

  async read(from: number, to: number): Promise<Uint8Array> {
    const first = this.#chunks.findIndex((chunk) => chunk.to > from);
    const bytes = new Uint8Array(to - from);
    for (let i = first; i >= 0 && i < this.#chunks.length; i++) {
      const chunk = this.#chunks[i] as PlacedChunk;
      if (chunk.from >= to) break;
      const part = await this.#inTurn(chunk);
      const [start, end] = [Math.max(from, chunk.from), Math.min(to, chunk.to)];
      bytes.set(part.subarray(start - chunk.from, end - chunk.from), start - from);
    }
    return bytes;
  }

  #inTurn(chunk: PlacedChunk): Promise<Uint8Array> {
    const unpacking = this.#turn.then(async () => {
      const kept = this.#kept.get(chunk);
      this.#kept.delete(chunk);
      if (kept === undefined) this.#makeRoom(chunk.to - chunk.from);
      const bytes = kept ?? (await this.#unpack(chunk));
      this.#kept.set(chunk, bytes);
      return bytes;
    });
    this.#turn = unpacking.catch(() => undefined);
    return unpacking;
  }

  /** Drops the chunks that were read least recently, until one of so many bytes has room. */
  #makeRoom(bytes: number): void {
    let all = bytes;
    for (const each of this.#kept.values()) all += each.length;
    for (const [chunk, { length }] of this.#kept) {
      if (all <= this.#mostKept) return;
      this.#kept.delete(chunk);
      all -= length;
    }
  }

  async #unpack({ kind, items, digest, packedBytes, at, from, to }: PlacedChunk): Promise<Uint8Array> {
    const packed = await this.#file.read(at, at + packedBytes);
    const isWhole = (await sha256(packed)) === digest;
    const bytes = isWhole ? await this.#codec.unpack(kind, items, packed) : null;
    if (bytes?.length === to - from) return bytes;
    throw badArgument(
      `${this.#file.what}: the compact key is damaged: bytes [${at}, ${at + packedBytes}), which give [${from}, ${to}) of the .zkey`,
    );
  }
}
