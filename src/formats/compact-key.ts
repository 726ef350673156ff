/** Compact keys, which are read as the `.zkey` that they came from: each chunk is unpacked when it is read. */
import { badArgument } from '../errors.js';
import { computedReads } from '../handle.js';
import { ChunkCodec } from './compact-chunks.js';
import { type CompactChunk, firstChunkAt, itemBytesOf, type ReadTable, readCompactTable } from './compact-file.js';
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
  /** The chunk that was unpacked last. */
  #last: { readonly chunk: PlacedChunk; readonly bytes: Uint8Array } | null = null;
  /** One chunk is unpacked at a time, so that memory holds no more than two. */
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(file: OpenFile, table: ReadTable, places: RootPlaces) {
    const { curve, byteLength, hash, chunks, digest } = table;
    this.byteLength = byteLength;
    this.sha256 = hexOf(hash);
    this.version = `compact ${hexOf(digest)}`;
    this.#file = file;
    this.#codec = new ChunkCodec(curve, places);
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
      if (this.#last?.chunk === chunk) return this.#last.bytes;
      this.#last = null;
      const bytes = await this.#unpack(chunk);
      this.#last = { chunk, bytes };
      return bytes;
    });
    this.#turn = unpacking.catch(() => undefined);
    return unpacking;
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
