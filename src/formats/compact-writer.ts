/** Writes compact keys, and the `.zkey` of one. */
import type { Progress } from '../api/calls.js';
import type { OwnBytes } from '../api/values.js';
import { assertNotAborted, badArgument } from '../errors.js';
import { type OptionTable, readOptions } from '../option-table.js';
import { ChunkCodec } from './compact-chunks.js';
import {
  type ChunkKind,
  type CompactChunk,
  compactEnd,
  compactHeader,
  itemBytesOf,
  mostItems,
} from './compact-file.js';
import type { isCompact, openCompact } from './compact-source.js';
import type { RootWorkers } from './point-roots.js';
import { hexOf, Sha256, sha256 } from './sha256.js';
import { type Sink, written } from './sink.js';
import type { FileSource, openFile } from './source.js';
import type { fileOf, openZkey, Zkey } from './zkey.js';

/**
 * The functions that open files. The module that loads this one hands them over: bundlers that put a worker in one
 * file, as Vite does by default, take no import of that module here.
 */
export interface Opening {
  readonly openFile: typeof openFile;
  readonly openZkey: typeof openZkey;
  readonly fileOf: typeof fileOf;
  readonly isCompact: typeof isCompact;
  readonly openCompact: typeof openCompact;
  /** Letters at the beginning of a compact key. */
  readonly magic: string;
  /** Bytes that are read at a time. */
  readonly chunkBytes: number;
}

/** Options of `packZkey` and `unpackZkey`. */
export interface PackOptions extends RootWorkers {
  /** The place of the result; by default bytes in memory. */
  readonly sink?: Sink | undefined;
  /** Ends the call with code `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the bytes of the `.zkey` that are done, and all of them, with the phase `pack`. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Called with a warning about the file; by default `console.warn`. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** A result of `packZkey` and `unpackZkey`. */
export interface PackResult {
  /** The file, where `sink` is left out. */
  readonly bytes: OwnBytes | undefined;
  /** Bytes of the `.zkey`. */
  readonly zkeyBytes: number;
  /** Bytes of the compact key. */
  readonly compactBytes: number;
  /** SHA-256 of the `.zkey`, in hexadecimal digits. */
  readonly sha256: string;
}

/** `packZkey` and `unpackZkey`. */
const packOptions = {
  of: 'packZkey and unpackZkey',
  rows: {
    // checked where it is opened
    sink: { kind: 'any' },
    signal: { kind: 'signal' },
    onProgress: { kind: 'function' },
    onWarning: { kind: 'function' },
    maxWorkers: { kind: 'integer', range: [0, 1024] },
    createWorker: { kind: 'function' },
  },
} as const satisfies OptionTable<PackOptions>;

/** Sections that are packed, by the kind of their items. */
const packedSections: Readonly<Record<Zkey['protocol'], Readonly<Record<number, ChunkKind>>>> = {
  groth16: { 4: 'coefficients', 5: 'g1', 6: 'g1', 7: 'g2', 8: 'g1', 9: 'g1' },
  plonk: { 14: 'g1' },
  fflonk: { 16: 'g1' },
};

/** Bytes of a `.zkey` whose items have one kind. */
interface Piece {
  readonly kind: ChunkKind;
  readonly from: number;
  readonly items: number;
}

/** Cuts a `.zkey` into pieces that are one behind the other. */
const piecesOf = (zkey: Zkey, { file, sections }: ReturnType<typeof fileOf>): Piece[] => {
  const pieces: Piece[] = [];
  let at = 0;
  const add = (kind: ChunkKind, to: number): void => {
    const itemBytes = itemBytesOf(kind, zkey.curve);
    const each = mostItems[kind];
    for (; at < to; at += (pieces.at(-1) as Piece).items * itemBytes) {
      pieces.push({ kind, from: at, items: Math.min(each, (to - at) / itemBytes) });
    }
  };
  const inOrder = [...sections].sort(([, left], [, right]) => left.at - right.at);
  for (const [id, section] of inOrder) {
    const kind = packedSections[zkey.protocol][id];
    if (kind === undefined) continue;
    // the number of entries is in front of them
    const from = section.at + (kind === 'coefficients' ? 4 : 0);
    const byteLength = section.at + section.byteLength - from;
    if (byteLength <= 0 || byteLength % itemBytesOf(kind, zkey.curve) !== 0) continue;
    add('bytes', from);
    add(kind, from + byteLength);
  }
  add('bytes', file.byteLength);
  return pieces;
};

/** Does the work of `packZkey`. */
export const pack = async (opening: Opening, zkey: FileSource, options: PackOptions): Promise<PackResult> => {
  const { sink, signal, onProgress, onWarning, ...workers } = readOptions(packOptions, options);
  const file = opening.openFile('zkey', zkey, signal);
  if (await opening.isCompact(file)) throw badArgument('zkey: it is a compact key already');
  const opened = await opening.openZkey(zkey, { onWarning, signal });
  const packer = new ChunkCodec(opened.curve, workers);
  const { bytes, result } = await written(sink, async (output) => {
    const header = compactHeader(opening.magic);
    await output.write(header);
    const chunks: CompactChunk[] = [];
    const hash = new Sha256();
    let compactBytes = header.length;
    for (const { kind, from, items } of piecesOf(opened, opening.fileOf(opened))) {
      assertNotAborted(signal);
      onProgress?.({ phase: 'pack', done: from, total: file.byteLength });
      const piece = await file.read(from, from + items * itemBytesOf(kind, opened.curve));
      hash.update(piece);
      for (const { packed, ...chunk } of await packer.pack(kind, items, piece)) {
        chunks.push({ ...chunk, packedBytes: packed.length, digest: await sha256(packed) });
        await output.write(packed);
        compactBytes += packed.length;
      }
    }
    const table = { curve: opened.curve, byteLength: file.byteLength, hash: hash.digest(), chunks };
    const end = await compactEnd(table);
    await output.write(end);
    onProgress?.({ phase: 'pack', done: file.byteLength, total: file.byteLength });
    assertNotAborted(signal);
    return { compactBytes: compactBytes + end.length, sha256: hexOf(table.hash) };
  });
  return { bytes, zkeyBytes: file.byteLength, ...result };
};

/** Does the work of `unpackZkey`. */
export const unpack = async (opening: Opening, compact: FileSource, options: PackOptions): Promise<PackResult> => {
  const { sink, signal, onProgress, ...settings } = readOptions(packOptions, options);
  const file = opening.openFile('zkey', compact, signal);
  if (!(await opening.isCompact(file))) throw badArgument('zkey: it is no compact key, which packZkey makes');
  const key = await opening.openCompact(file, settings);
  const total = key.byteLength;
  const { bytes } = await written(sink, async (output) => {
    const hash = new Sha256();
    for (let at = 0; at < total; ) {
      assertNotAborted(signal);
      onProgress?.({ phase: 'pack', done: at, total });
      const to = Math.min(total, at + opening.chunkBytes);
      const part = await key.read(at, to);
      hash.update(part);
      await output.write(part);
      at = to;
    }
    if (hexOf(hash.digest()) !== key.sha256) {
      throw badArgument('zkey: the compact key does not give the .zkey whose hash it has; pack the .zkey again');
    }
    onProgress?.({ phase: 'pack', done: total, total });
  });
  return { bytes, zkeyBytes: total, compactBytes: file.byteLength, sha256: key.sha256 };
};
