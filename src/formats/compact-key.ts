/**
 * Compact keys, which are read as the `.zkey` that they came from: each chunk is unpacked when it is
 * read. Points have lost their second coordinates, and matrices have each coefficient once.
 */
import { openCurve } from '../curves/open-curve.js';
import { badArgument } from '../errors.js';
// From the entry, so that the build leaves in index.js what the two share.
import { MsmError } from '../index.js';
import {
  type ChunkKind,
  type CompactChunk,
  type CompactTable,
  firstChunkAt,
  itemBytesOf,
  joinPoints,
  mostItems,
  packEntries,
  packPoints,
  readCompactTable,
  readPoints,
  unpackEntries,
} from './compact-file.js';
import { PointRoots, type RootWorkers } from './point-roots.js';
import { hexOf, sha256 } from './sha256.js';
import type { OpenFile, RandomAccess } from './source.js';

/** Packs and unpacks chunks. */
export class ChunkCodec {
  readonly #curve: CompactTable['curve'];
  readonly #roots: PointRoots;

  constructor(curve: CompactTable['curve'], workers: RootWorkers) {
    this.#curve = curve;
    this.#roots = new PointRoots(curve, workers);
  }

  /**
   * Packs items, as bytes where that would not give them again.
   *
   * @throws MsmError `unsupported-device` without WebAssembly; `out-of-memory`
   */
  async pack(
    kind: ChunkKind,
    items: number,
    bytes: Uint8Array,
  ): Promise<{ readonly kind: ChunkKind; readonly items: number; readonly packed: Uint8Array }[]> {
    const packed = this.#packed(kind, bytes);
    if (packed !== null && packed.length < bytes.length) {
      const again = await this.unpack(kind, items, packed).catch((error: unknown) => {
        // a coordinate that is not below p
        if (error instanceof MsmError && error.code === 'bad-argument') return null;
        throw error;
      });
      if (again !== null && areSame(again, bytes)) return [{ kind, items, packed }];
    }
    const each = mostItems.bytes;
    return Array.from({ length: Math.ceil(bytes.length / each) }, (_, i) => {
      const part = bytes.subarray(i * each, (i + 1) * each);
      return { kind: 'bytes', items: part.length, packed: part };
    });
  }

  #packed(kind: ChunkKind, bytes: Uint8Array): Uint8Array | null {
    if (kind === 'bytes') return null;
    return kind === 'coefficients' ? packEntries(bytes) : packPoints(bytes, itemBytesOf(kind, this.#curve));
  }

  /**
   * Unpacks items.
   *
   * @returns null if they cannot be what `kind` says
   * @throws MsmError `bad-argument` for a coordinate that is not below p; others of `PointRoots`
   */
  async unpack(kind: ChunkKind, items: number, packed: Uint8Array): Promise<Uint8Array | null> {
    if (kind === 'bytes') return packed;
    if (kind === 'coefficients') return unpackEntries(packed, items);
    const pointBytes = itemBytesOf(kind, this.#curve);
    const points = readPoints(packed, items, pointBytes);
    if (points === null) return null;
    const { p } = await openCurve(this.#curve, 'g1');
    return joinPoints(points, await this.#roots.ysOf(points.xs, kind), pointBytes, p);
  }
}

const areSame = (left: Uint8Array, right: Uint8Array): boolean => {
  if (left.length !== right.length) return false;
  for (let i = 0; i < left.length; i++) if (left[i] !== right[i]) return false;
  return true;
};

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
  readonly byteLength: number;
  readonly version: string;
  /** SHA-256 of the `.zkey`, in hexadecimal digits. */
  readonly sha256: string;
  readonly #file: OpenFile;
  readonly #chunks: readonly PlacedChunk[];
  readonly #codec: ChunkCodec;
  /** The chunk that was unpacked last. */
  #last: { readonly chunk: PlacedChunk; readonly bytes: Uint8Array } | null = null;
  /** One chunk is unpacked at a time, so that memory holds no more than two. */
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(file: OpenFile, table: CompactTable, workers: RootWorkers) {
    const { curve, byteLength, hash, chunks } = table;
    this.byteLength = byteLength;
    this.sha256 = hexOf(hash);
    this.version = `sha256 ${this.sha256}`;
    this.#file = file;
    this.#codec = new ChunkCodec(curve, workers);
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
  static async open(file: OpenFile, { maxWorkers, createWorker }: RootWorkers = {}): Promise<CompactKey> {
    return new CompactKey(file, await readCompactTable(file), { maxWorkers, createWorker });
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
