/**
 * A file of a cache: pages of a key in the order in which they were read first, among them pages of what
 * was prepared of the key, whose numbers follow those of the key; and behind them an index. Pages are
 * `PAGE_BYTES` long; a last page is filled up with zeros. The index is
 * JSON, then for each page its u32 number in the key and the SHA-256 of its bytes, then the footer:
 * eight letters, u32 format, u32 bytes of the JSON, SHA-256 of all of the index before the footer.
 * Numbers are little-endian. A file that was not written to its end has no footer.
 */
import { version as library } from '../version.js';
import { bytesOfHex, DIGEST_BYTES, hexOf, sha256 } from './sha256.js';
import { numbersOf, type OpenFile } from './source.js';

/** Bytes of a page. */
export const PAGE_BYTES = 2 ** 18;

/** The form of these files; another form has another number. */
const FORMAT = 2;

const MAGIC = 'wgmsmkey';
const ROW_BYTES = 4 + DIGEST_BYTES;
const FOOTER_BYTES = MAGIC.length + 8 + DIGEST_BYTES;

/** The most bytes of the JSON that are read. */
const MOST_JSON_BYTES = 2 ** 16;

/** Facts about a stored key. */
export interface StoredFacts {
  /** Hexadecimal digits that no other key has. */
  readonly id: string;
  /** Text of the source that changes with the contents; empty if it has none. */
  readonly version: string;
  readonly protocol: 'groth16' | 'plonk' | 'fflonk';
  readonly curve: 'bn254' | 'bls12-381';
  /** Bytes of the whole key. */
  readonly byteLength: number;
  /** Bytes that were prepared of the key, in pages behind those of the key. */
  readonly preparedBytes: number;
}

/** A page of a key in its file. */
export interface StoredPage {
  /** Position in the file, in pages. */
  readonly slot: number;
  /** SHA-256 of its bytes, in hexadecimal digits. */
  readonly digest: string;
}

/** What a file of a cache has. */
export interface StoredIndex {
  readonly facts: StoredFacts;
  /** Pages by their numbers in the key. */
  readonly pages: ReadonlyMap<number, StoredPage>;
}

/** Returns the number of the first page behind those of a key of so many bytes. */
export const firstPrepared = (byteLength: number): number => Math.ceil(byteLength / PAGE_BYTES);

/** Returns whether pages of a key have among them those of a stored key, what was prepared of it aside. */
export const includesPagesOf = (
  all: ReadonlyMap<number, StoredPage>,
  { facts, pages }: { readonly facts: Pick<StoredFacts, 'byteLength'>; readonly pages: StoredIndex['pages'] },
): boolean => {
  const ofKey = [...pages].filter(([number]) => number < firstPrepared(facts.byteLength));
  return ofKey.every(([number, { digest }]) => all.get(number)?.digest === digest);
};

/** Returns the bytes of an index, its footer included. */
export const writeIndex = async ({ facts, pages }: StoredIndex): Promise<Uint8Array> => {
  const json = new TextEncoder().encode(JSON.stringify({ library, ...facts }));
  const bytes = new Uint8Array(json.length + pages.size * ROW_BYTES + FOOTER_BYTES);
  bytes.set(json);
  const numbers = numbersOf(bytes);
  for (const [page, { slot, digest }] of pages) {
    const at = json.length + slot * ROW_BYTES;
    numbers.setUint32(at, page, true);
    bytes.set(bytesOfHex(digest), at + 4);
  }
  const end = bytes.length - FOOTER_BYTES;
  bytes.set(new TextEncoder().encode(MAGIC), end);
  numbers.setUint32(end + MAGIC.length, FORMAT, true);
  numbers.setUint32(end + MAGIC.length + 4, json.length, true);
  bytes.set(bytesOfHex(await sha256(bytes.subarray(0, end))), end + MAGIC.length + 8);
  return bytes;
};

/**
 * Reads the index of a file.
 *
 * @returns null for a file that is not whole, was damaged, or is of another version of the library
 */
export const readIndex = async (file: OpenFile): Promise<StoredIndex | null> => {
  const { byteLength } = file;
  if (byteLength < FOOTER_BYTES) return null;
  const footer = await file.read(byteLength - FOOTER_BYTES, byteLength);
  const numbers = numbersOf(footer);
  const jsonBytes = numbers.getUint32(MAGIC.length + 4, true);
  const isOurs = [...MAGIC].every((letter, i) => footer[i] === letter.charCodeAt(0));
  if (!isOurs || numbers.getUint32(MAGIC.length, true) !== FORMAT || jsonBytes > MOST_JSON_BYTES) return null;
  const count = (byteLength - FOOTER_BYTES - jsonBytes) / (PAGE_BYTES + ROW_BYTES);
  if (!Number.isInteger(count) || count < 0) return null;
  const index = await file.read(count * PAGE_BYTES, byteLength - FOOTER_BYTES);
  if ((await sha256(index)) !== hexOf(footer.subarray(MAGIC.length + 8))) return null;
  const { library: writer, ...facts } = JSON.parse(new TextDecoder().decode(index.subarray(0, jsonBytes)));
  if (writer !== library) return null;
  const pages = new Map<number, StoredPage>();
  for (let slot = 0; slot < count; slot++) {
    const at = jsonBytes + slot * ROW_BYTES;
    const digest = hexOf(index.subarray(at + 4, at + ROW_BYTES));
    pages.set(numbersOf(index).getUint32(at, true), { slot, digest });
  }
  return { facts, pages };
};
