/**
 * The form of compact keys, as docs/reference/compact-keys.md has it: chunks of a `.zkey` one behind
 * the other, a table of them, and a footer. Numbers are little-endian.
 */
import { badArgument, type MsmError } from '../errors.js';
import { digitsOf, wordBytesOf } from '../field/modulus.js';
import { ValueTable } from '../fields/program/entries.js';
import { ORDER_BYTES, type SnarkjsCurve } from './binfile.js';
import { bytesOfHex, DIGEST_BYTES, digestOf, hexOf } from './sha256.js';
import type { OpenFile } from './source.js';

/** The form of these files; another form has another number. */
const FORMAT = 1;

const HEADER_BYTES = 8;
const ROW_BYTES = 16 + DIGEST_BYTES;
const FOOTER_BYTES = 16 + 2 * DIGEST_BYTES;

/** Kinds of chunks, by their numbers. */
const kinds = ['bytes', 'g1', 'g2', 'coefficients'] as const;
export type ChunkKind = (typeof kinds)[number];

/** Curves by their numbers. */
const curves: readonly SnarkjsCurve['name'][] = ['bn254', 'bls12-381'];

/** Bytes of an entry of a matrix: u32 matrix, row and column, and a value. */
export const ENTRY_BYTES = 12 + ORDER_BYTES;

const primeBytesOf = (curve: SnarkjsCurve['name']): number => (curve === 'bn254' ? 32 : 48);

/** Returns the bytes of an item: of a point, of an entry, or of a byte. */
export const itemBytesOf = (kind: ChunkKind, curve: SnarkjsCurve['name']): number => {
  if (kind === 'bytes') return 1;
  return kind === 'coefficients' ? ENTRY_BYTES : (kind === 'g1' ? 2 : 4) * primeBytesOf(curve);
};

/** The most items of a chunk: 1 to 6 MiB of a `.zkey`. */
export const mostItems: Readonly<Record<ChunkKind, number>> = {
  bytes: 2 ** 20,
  g1: 2 ** 16,
  g2: 2 ** 15,
  coefficients: 2 ** 16,
};

/** The most chunks of a compact key: some 200 GiB of a `.zkey`. */
const MOST_CHUNKS = 2 ** 18;

/** A chunk of a `.zkey`. */
export interface CompactChunk {
  readonly kind: ChunkKind;
  /** Points, entries, or bytes. */
  readonly items: number;
  /** Bytes in the compact key. */
  readonly packedBytes: number;
  /** SHA-256 of the bytes in the compact key, in hexadecimal digits. */
  readonly digest: string;
}

/** Statements of a compact key about itself. */
export interface CompactTable {
  readonly curve: SnarkjsCurve['name'];
  /** Bytes of the `.zkey`. */
  readonly byteLength: number;
  /** SHA-256 of the `.zkey`, which nobody has checked. */
  readonly hash: Uint8Array;
  readonly chunks: readonly CompactChunk[];
}

/** A table that was read, and that has its digest. */
export interface ReadTable extends CompactTable {
  /** SHA-256 of the table and the footer, and so of the digests of all chunks. */
  readonly digest: Uint8Array;
}

/** As that of source.ts, which this file does not import: `Opening` of compact-writer.ts says why. */
const numbersOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

/** Returns the bytes before the first chunk. @param magic the letters that they begin with */
export const compactHeader = (magic: string): Uint8Array => {
  const bytes = new Uint8Array(HEADER_BYTES);
  bytes.set(new TextEncoder().encode(magic));
  numbersOf(bytes).setUint32(4, FORMAT, true);
  return bytes;
};

/** Returns the bytes behind the last chunk. @throws MsmError `bad-argument` if there are too many chunks */
export const compactEnd = async ({ curve, byteLength, hash, chunks }: CompactTable): Promise<Uint8Array> => {
  if (chunks.length > MOST_CHUNKS) {
    throw badArgument(`zkey: a compact key of it has ${chunks.length} chunks; ${MOST_CHUNKS} are the most`);
  }
  const bytes = new Uint8Array(chunks.length * ROW_BYTES + FOOTER_BYTES);
  const numbers = numbersOf(bytes);
  for (const [i, { kind, items, packedBytes, digest }] of chunks.entries()) {
    const at = i * ROW_BYTES;
    for (const [k, number] of [kinds.indexOf(kind), items, packedBytes, 0].entries())
      numbers.setUint32(at + 4 * k, number, true);
    bytes.set(bytesOfHex(digest), at + 16);
  }
  const footer = chunks.length * ROW_BYTES;
  numbers.setBigUint64(footer, BigInt(byteLength), true);
  numbers.setUint32(footer + 8, chunks.length, true);
  numbers.setUint32(footer + 12, curves.indexOf(curve), true);
  bytes.set(hash, footer + 16);
  const end = footer + 16 + DIGEST_BYTES;
  bytes.set(await digestOf(bytes.subarray(0, end)), end);
  return bytes;
};

const damaged = ({ what }: Pick<OpenFile, 'what'>, why: string): MsmError =>
  badArgument(`${what}: the compact key is cut off or damaged: ${why}`);

/** Reads the header, the table and the footer. @throws MsmError `bad-argument` saying what is wrong */
export const readCompactTable = async (file: OpenFile): Promise<ReadTable> => {
  const { byteLength: size, what } = file;
  if (size < HEADER_BYTES + FOOTER_BYTES) throw damaged(file, `it has ${size} bytes`);
  const format = numbersOf(await file.read(0, HEADER_BYTES)).getUint32(4, true);
  if (format !== FORMAT) {
    throw badArgument(
      `${what}: the compact key has format ${format}, and this version of the library reads format ${FORMAT}; pack the .zkey again`,
    );
  }
  const count = numbersOf(await file.read(size - FOOTER_BYTES, size)).getUint32(8, true);
  const at = size - FOOTER_BYTES - count * ROW_BYTES;
  if (count > MOST_CHUNKS || at < HEADER_BYTES) throw damaged(file, `its footer says ${count} chunks`);
  const bytes = await file.read(at, size);
  const end = bytes.length - DIGEST_BYTES;
  const digest = bytes.slice(end);
  if (hexOf(await digestOf(bytes.subarray(0, end))) !== hexOf(digest)) {
    throw damaged(file, 'its table does not have its digest');
  }
  const numbers = numbersOf(bytes);
  const footer = count * ROW_BYTES;
  const curve = curves[numbers.getUint32(footer + 12, true)];
  const chunks = Array.from({ length: count }, (_, i): CompactChunk => {
    const [kind, items, packedBytes, reserved] = [0, 4, 8, 12].map((k) => numbers.getUint32(i * ROW_BYTES + k, true));
    if (reserved !== 0) throw damaged(file, `chunk ${i} of its table cannot be`);
    const digest = hexOf(bytes.subarray(i * ROW_BYTES + 16, (i + 1) * ROW_BYTES));
    return {
      kind: kinds[kind as number] as ChunkKind,
      items: items as number,
      packedBytes: packedBytes as number,
      digest,
    };
  });
  const table = {
    curve: curve as SnarkjsCurve['name'],
    byteLength: Number(numbers.getBigUint64(footer, true)),
    hash: bytes.subarray(footer + 16, end),
    chunks,
    digest,
  };
  checkTable(file, table, at - HEADER_BYTES);
  return table;
};

/** @param packedBytes of all chunks @throws MsmError `bad-argument` if the table contradicts itself */
const checkTable = (file: OpenFile, { curve, byteLength, chunks }: CompactTable, packedBytes: number): void => {
  if (!curves.includes(curve)) throw damaged(file, 'its curve is unknown');
  let [bytes, packed] = [0, 0];
  for (const [i, { kind, items, packedBytes: each }] of chunks.entries()) {
    const unpacked = kind === undefined ? 0 : items * itemBytesOf(kind, curve);
    // packed chunks are smaller than the others would be
    const isSize = kind === 'bytes' ? each === unpacked : each > 0 && each < unpacked;
    if (kind === undefined || items > mostItems[kind] || unpacked === 0 || !isSize) {
      throw damaged(file, `chunk ${i} of its table cannot be`);
    }
    bytes += unpacked;
    packed += each;
  }
  if (bytes !== byteLength || packed !== packedBytes) throw damaged(file, 'its chunks do not add up');
};

/** Returns the position of the first chunk. */
export const firstChunkAt = HEADER_BYTES;

/* Points: two bits for each, then x of all but infinity. */

/** Marks of infinity, and of points: the lowest bit of the first coefficient of y is added. */
const [INFINITY, FINITE] = [0, 2];

/** Points, each as x and a mark. */
export interface PackedPoints {
  /** 0 for infinity, 2 or 3 for another point. */
  readonly marks: Uint8Array;
  /** x of the points that are not infinity; an array of its own. */
  readonly xs: Uint8Array<ArrayBuffer>;
}

/** Packs points. @param bytes x‖y of each in Montgomery form; zeros are infinity */
export const packPoints = (bytes: Uint8Array, pointBytes: number): Uint8Array => {
  const [count, half] = [bytes.length / pointBytes, pointBytes / 2];
  const markBytes = Math.ceil(count / 4);
  const packed = new Uint8Array(markBytes + count * half);
  let at = markBytes;
  for (let i = 0; i < count; i++) {
    const from = i * pointBytes;
    if (isZero(bytes, from, from + pointBytes)) continue;
    const mark = FINITE + ((bytes[from + half] as number) & 1);
    packed[i >> 2] = (packed[i >> 2] as number) | (mark << (2 * (i & 3)));
    packed.set(bytes.subarray(from, from + half), at);
    at += half;
  }
  return packed.subarray(0, at);
};

const isZero = (bytes: Uint8Array, from: number, to: number): boolean => {
  for (let i = from; i < to; i++) if (bytes[i] !== 0) return false;
  return true;
};

/** Reads packed points. @returns null if they cannot be points */
export const readPoints = (packed: Uint8Array, count: number, pointBytes: number): PackedPoints | null => {
  const markBytes = Math.ceil(count / 4);
  if (packed.length < markBytes) return null;
  const spare = count % 4 === 0 ? 0 : (packed[markBytes - 1] as number) >> (2 * (count % 4));
  if (spare !== 0) return null;
  const marks = new Uint8Array(count);
  let finite = 0;
  for (let i = 0; i < count; i++) {
    const mark = ((packed[i >> 2] as number) >> (2 * (i & 3))) & 3;
    marks[i] = mark;
    finite += mark >> 1;
  }
  if (marks.includes(1) || packed.length !== markBytes + (finite * pointBytes) / 2) return null;
  return { marks, xs: new Uint8Array(packed.subarray(markBytes)) };
};

/**
 * Joins points again.
 *
 * @param ys a y of each x, one of two
 * @param prime of the coordinates
 */
export const joinPoints = (
  { marks, xs }: PackedPoints,
  ys: Uint8Array<ArrayBuffer>,
  pointBytes: number,
  prime: bigint,
): Uint8Array<ArrayBuffer> => {
  const half = pointBytes / 8;
  const words = new Uint32Array(2 * half * marks.length);
  const [abscissas, roots] = [new Uint32Array(xs.buffer), new Uint32Array(ys.buffer)];
  const p = digitsOf(prime, 32, wordBytesOf(prime) / 4);
  let at = 0;
  // word by word: views of single points take ten times as long
  for (const [i, mark] of marks.entries()) {
    if (mark === INFINITY) continue;
    const to = 2 * half * i;
    for (let j = 0; j < half; j++) words[to + j] = abscissas[at + j] as number;
    for (let j = 0; j < half; j++) words[to + half + j] = roots[at + j] as number;
    if (((roots[at] as number) & 1) !== mark - FINITE) negate(words, to + half, to + 2 * half, p);
    at += half;
  }
  return new Uint8Array(words.buffer);
};

/** Writes p − a over the numbers a of some words, 0 over 0. */
const negate = (words: Uint32Array, from: number, to: number, p: readonly number[]): void => {
  for (let at = from; at < to; at += p.length) {
    let bits = 0;
    for (let j = 0; j < p.length; j++) bits |= words[at + j] as number;
    let borrow = 0;
    for (let j = 0; bits !== 0 && j < p.length; j++) {
      const word = (p[j] as number) - (words[at + j] as number) - borrow;
      words[at + j] = word;
      borrow = word < 0 ? 1 : 0;
    }
  }
};

/*
 * Entries of matrices: u32 number of values, the values, then for each entry three numbers in groups
 * of seven bits: twice the step of the row and the matrix, the step of the column, the index of the
 * value. Steps are from the entry before, and zigzag: 0, −1, 1, −2, …
 */

const zigzag = (step: number): number => (step < 0 ? -2 * step - 1 : 2 * step);
const unzigzag = (code: number): number => (code % 2 === 0 ? code / 2 : -(code + 1) / 2);

/** Most bytes of a number in groups of seven bits: twice a step of 33 bits. */
const MOST_GROUPS = 5;

const VALUE_WORDS = ORDER_BYTES / 4;
const ENTRY_WORDS = ENTRY_BYTES / 4;

/** Packs entries. @returns null if one is of neither matrix */
export const packEntries = (bytes: Uint8Array): Uint8Array | null => {
  const words = new Uint32Array(bytes.slice().buffer);
  const count = words.length / ENTRY_WORDS;
  const table = new ValueTable(VALUE_WORDS);
  const steps = new Uint8Array(3 * MOST_GROUPS * count);
  let end = 0;
  const write = (number: number): void => {
    let rest = number;
    for (; rest >= 128; rest = Math.floor(rest / 128)) steps[end++] = 128 + (rest % 128);
    steps[end++] = rest;
  };
  let [row, column] = [0, 0];
  for (let i = 0; i < words.length; i += ENTRY_WORDS) {
    const [matrix, nextRow, nextColumn] = [words[i] as number, words[i + 1] as number, words[i + 2] as number];
    if (matrix > 1) return null;
    write(2 * zigzag(nextRow - row) + matrix);
    write(zigzag(nextColumn - column));
    write(table.indexOf(words, i + 3));
    [row, column] = [nextRow, nextColumn];
  }
  const values = new Uint8Array(table.values().buffer);
  const packed = new Uint8Array(4 + values.length + end);
  numbersOf(packed).setUint32(0, table.count, true);
  packed.set(values, 4);
  packed.set(steps.subarray(0, end), 4 + values.length);
  return packed;
};

/** Unpacks entries. @returns null if they cannot be entries */
export const unpackEntries = (packed: Uint8Array, count: number): Uint8Array<ArrayBuffer> | null => {
  if (packed.length < 4) return null;
  const valueCount = numbersOf(packed).getUint32(0, true);
  let at = 4 + valueCount * ORDER_BYTES;
  if (at > packed.length) return null;
  const values = new Uint32Array(packed.slice(4, at).buffer);
  const words = new Uint32Array(count * ENTRY_WORDS);
  const read = (): number => {
    let [number, scale] = [0, 1];
    for (;;) {
      // behind the end it is no number, which fails below
      const group = packed[at++] as number;
      number += (group % 128) * scale;
      if (!(group >= 128)) return number;
      scale *= 128;
    }
  };
  let [row, column] = [0, 0];
  for (let i = 0; i < words.length; i += ENTRY_WORDS) {
    const code = read();
    const matrix = code % 2;
    row += unzigzag((code - matrix) / 2);
    column += unzigzag(read());
    const value = read();
    if (!(value < valueCount && isU32(row) && isU32(column))) return null;
    [words[i], words[i + 1], words[i + 2]] = [matrix, row, column];
    for (let j = 0; j < VALUE_WORDS; j++) words[i + 3 + j] = values[value * VALUE_WORDS + j] as number;
  }
  return at === packed.length ? new Uint8Array(words.buffer) : null;
};

const isU32 = (number: number): boolean => number >= 0 && number < 2 ** 32;
