/**
 * The witness of a circuit: a `.wtns` file, which is a binfile with the prime and the number of
 * values in section 1 (u32 bytes of a number, the prime, u32 count) and the values in section 2, or
 * the values alone. Source: https://github.com/iden3/wtnsfile.
 */
import { viewBytes } from '../engine/arguments.js';
import { badArgument } from '../errors.js';
import { Fields, readSections, sectionOf } from '../formats/binfile.js';
import { ORDER_BYTES } from '../formats/snarkjs.js';
import { type FileSource, type OpenFile, openFile, readRange } from '../formats/source.js';
import { numberOf } from './scalars.js';

/** The newest version of the container that snarkjs reads. */
const NEWEST = 2;

const MAGIC = 'wtns';

/** The circuit of which a witness is expected. */
export interface WitnessOf {
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
    throw badArgument(`${what}: the header has a prime of ${bytes} bytes that is not that of the key`);
  }
  const count = header.u32();
  header.end();
  if (count !== variables) {
    throw badArgument(`${what} has ${count} values, but the circuit of the key has ${variables} variables`);
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
  { ending, warn }: { readonly ending: AbortController; warn(message: string): void },
): Promise<Uint8Array<ArrayBuffer>> => {
  const file = openFile('witness', source, ending.signal);
  const [from, to] = await valuesIn(file, circuit, warn);
  const values = new Uint8Array(await readRange(file, from, to));
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
