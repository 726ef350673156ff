/**
 * Scalars of a proof: the witness, random scalars that hide it, and both as bytes. A witness is a
 * `.wtns` file, which is a binfile with the prime and the number of values in section 1 (u32 bytes of
 * a number, the prime, u32 count) and the values in section 2, or the values alone. Source:
 * https://github.com/iden3/wtnsfile.
 */
import { roomFor, viewBytes } from '../engine/arguments.js';
import { badArgument } from '../errors.js';
import { Fields, ORDER_BYTES, readSections, sectionOf } from '../formats/binfile.js';
import { CHUNK_BYTES, type FileSource, type OpenFile, openFile } from '../formats/source.js';

/** The newest version of the container that snarkjs reads. */
const NEWEST = 2;

const MAGIC = 'wtns';

/** The circuit of which a witness is expected. */
interface WitnessOf {
  /** The prime of its field. */
  readonly order: bigint;
  /** Number of its variables, with the constant 1. */
  readonly variables: number;
}

/** Returns whether a file is the values alone: those begin with 1, and not with the magic number. */
const isValuesAlone = async (file: OpenFile): Promise<boolean> => {
  if (file.byteLength < MAGIC.length) return true;
  const head = await file.read(0, MAGIC.length);
  return head.some((byte, i) => byte !== MAGIC.charCodeAt(i));
};

/** Returns the position of the values. @throws MsmError `bad-argument` */
const valuesIn = async (
  file: OpenFile,
  { order, variables }: WitnessOf,
  warn: (message: string) => void,
): Promise<readonly [number, number]> => {
  const { what, byteLength } = file;
  const expected = variables * ORDER_BYTES;
  if (await isValuesAlone(file)) {
    if (byteLength === expected) return [0, expected];
    throw badArgument(
      `${what} must be a .wtns file or ${variables} numbers of ${ORDER_BYTES} bytes, got ${byteLength} bytes`,
    );
  }
  const sections = await readSections(file, MAGIC, NEWEST, warn);
  const header = await Fields.read(file, sectionOf(file, sections, 1, 'header'), 'section 1 (header)');
  const bytes = header.u32();
  if (bytes !== ORDER_BYTES || header.number(bytes) !== order) {
    throw badArgument(`${what}: the header has a prime of ${bytes} bytes that is not that of the circuit`);
  }
  const count = header.u32();
  header.end();
  if (count !== variables) {
    throw badArgument(`${what} has ${count} values, but the circuit has ${variables} variables`);
  }
  const values = sectionOf(file, sections, 2, 'values');
  if (values.byteLength !== expected) {
    throw badArgument(`${what}: section 2 (values) has ${values.byteLength} bytes instead of ${expected}`);
  }
  return [values.at, values.at + expected];
};

/** Words of 32 bits of a value. */
const WORDS = ORDER_BYTES / 4;

/** Returns the first variable whose value is not below the prime; −1 if there is none. */
const firstNotBelow = (values: Uint8Array<ArrayBuffer>, order: bigint): number => {
  const words = new Uint32Array(values.buffer);
  const top = Number(order >> BigInt(32 * (WORDS - 1)));
  for (let i = 0; i < words.length / WORDS; i++) {
    if ((words[(i + 1) * WORDS - 1] as number) < top) continue;
    if (numberOf(values.subarray(i * ORDER_BYTES, (i + 1) * ORDER_BYTES)) >= order) return i;
  }
  return -1;
};

/** Copies the bytes [from, to) of a file. What a Blob gave is overwritten, as nobody else has it. */
const copyRange = async (file: OpenFile, from: number, to: number): Promise<Uint8Array<ArrayBuffer>> => {
  const copy = roomFor(file.what, to - from, 1, 'bytes');
  try {
    for (let at = from; at < to; at += CHUNK_BYTES) {
      const chunk = await file.read(at, Math.min(to, at + CHUNK_BYTES));
      copy.set(chunk, at - from);
      if (file.isBlob) chunk.fill(0);
    }
    return copy;
  } catch (error) {
    copy.fill(0);
    throw error;
  }
};

/**
 * Reads a witness. Checks that its first value is 1, and that all are below the prime.
 *
 * @param run ends the reads, and warns if bytes follow the file
 * @returns an array of its own, 32 little-endian bytes for each variable
 * @throws MsmError `bad-argument` without any value of the witness; `aborted`
 */
export const readWitness = async (
  source: FileSource,
  circuit: WitnessOf,
  { ending, warn }: { readonly ending: { readonly signal: AbortSignal | undefined }; warn(message: string): void },
): Promise<Uint8Array<ArrayBuffer>> => {
  const file = openFile('witness', source, ending.signal);
  const [from, to] = await valuesIn(file, circuit, warn);
  const values = await copyRange(file, from, to);
  if (values.subarray(0, ORDER_BYTES).some((byte, i) => byte !== Number(i === 0))) {
    values.fill(0);
    throw badArgument('witness: variable 0 must have the value 1');
  }
  const variable = firstNotBelow(values, circuit.order);
  if (variable >= 0) {
    values.fill(0);
    throw badArgument(`witness: variable ${variable} must have a value below the prime of the field`);
  }
  return values;
};

/**
 * Copies a witness that is in memory, which its owner may overwrite after the call.
 *
 * @param secrets takes the copy, which is to be overwritten
 */
export const copyWitness = (witness: FileSource, secrets: Uint8Array[]): FileSource => {
  const view = typeof witness === 'object' && witness !== null ? viewBytes('witness', witness) : null;
  if (view === null) return witness;
  const copy = new Uint8Array(view);
  secrets.push(copy);
  return copy;
};

/** Overwrites secrets. */
export const erase = (secrets: readonly Uint8Array[]): void => {
  for (const secret of secrets) secret.fill(0);
};

/** Bytes of an array from which on its memory is given back at once. */
const LARGE_BYTES = 2 ** 20;

/**
 * Gives the memory of large arrays back, which nothing uses any more, on platforms that can. Elsewhere it stays
 * until garbage is collected, which may be after the next proof has taken as much.
 */
export const giveBack = (arrays: readonly Uint8Array[]): void => {
  for (const { buffer, byteLength } of arrays) {
    if (byteLength >= LARGE_BYTES) (buffer as { transfer?(bytes: number): unknown }).transfer?.(0);
  }
};

/** Overwrites the copy of `copyWitness`, once it was read, and gives its memory back. */
export const dropCopy = (witness: FileSource, secrets: Uint8Array[]): void => {
  const at = secrets.indexOf(witness as Uint8Array);
  if (at < 0) return;
  const copies = secrets.splice(at, 1);
  erase(copies);
  giveBack(copies);
};

/** Draws a scalar below the order, as little-endian bytes. */
export type DrawScalar = (order: bigint) => Uint8Array<ArrayBuffer>;

const isBelow = (bytes: Uint8Array, limit: Uint8Array): boolean => {
  for (let i = SCALAR_BYTES - 1; i >= 0; i--) {
    const [own, most] = [bytes[i] as number, limit[i] as number];
    if (own !== most) return own < most;
  }
  return false;
};

/** Draws uniformly by `crypto.getRandomValues`: numbers of r's length, until one is below r. */
export const drawRandomScalar: DrawScalar = (order) => {
  const limit = bytesOf(order);
  const excess = 8 * SCALAR_BYTES - order.toString(2).length;
  const bytes = new Uint8Array(SCALAR_BYTES);
  do {
    crypto.getRandomValues(bytes);
    bytes[SCALAR_BYTES - 1] = (bytes[SCALAR_BYTES - 1] as number) & (0xff >> excess);
  } while (!isBelow(bytes, limit));
  return bytes;
};

/** Bytes of a scalar. */
export const SCALAR_BYTES = 32;

/** Returns a number below 2^256 as little-endian bytes. */
export const bytesOf = (value: bigint): Uint8Array => {
  const bytes = new Uint8Array(SCALAR_BYTES);
  const words = new DataView(bytes.buffer);
  let rest = value;
  for (let at = 0; at < SCALAR_BYTES; at += 8, rest >>= 64n) words.setBigUint64(at, rest, true);
  return bytes;
};

/** Returns the number that little-endian bytes are. @param bytes a multiple of 8 */
export const numberOf = (bytes: Uint8Array): bigint => {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let value = 0n;
  for (let at = bytes.length - 8; at >= 0; at -= 8) value = (value << 64n) | words.getBigUint64(at, true);
  return value;
};

/** Returns the numbers in consecutive little-endian bytes. */
export const numbersIn = (bytes: Uint8Array): bigint[] =>
  Array.from({ length: bytes.length / SCALAR_BYTES }, (_, i) =>
    numberOf(bytes.subarray(i * SCALAR_BYTES, (i + 1) * SCALAR_BYTES)),
  );
