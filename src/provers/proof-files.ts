/** Files of a proof in the forms that snarkjs takes: a name, bytes, or an object that names one. */
import { badArgument, kindOf } from '../errors.js';
import { FileOnDisk, type FileSystem } from '../formats/disk-file.js';
import type { FileSource } from '../formats/source.js';
import { fetchFile, openFetched } from './fetched-files.js';

/** An object that names a file: `{ type: 'mem', data }` or `{ type: 'file', fileName }`. */
export interface SnarkjsFileObject {
  /** The kind of file: `mem` or `file`; others are snarkjs's own. */
  readonly type: string;
}

/** A file as snarkjs takes it: bytes; a path in Node, or a URL in a page; or an object. */
export type SnarkjsFile = string | Uint8Array | SnarkjsFileObject;

/** A key to be loaded, or found among the loaded ones. */
export interface KeySource {
  readonly source: FileSource;
  readonly byteLength: number;
  /** Returns a text that no key with other contents has. */
  identify(): Promise<string>;
}

/**
 * File systems round times, to two seconds at most. A file that changed more recently may change
 * again without another time, so its contents identify it.
 */
const SETTLED_NS = 2_000_000_000n;

/** The most bytes of a file that its contents identify; for a larger one its times settle first. */
const MOST_HASHED_BYTES = 2 ** 30;

/** Returns `node:fs/promises`; null in a page. It uses no `import`, which bundlers could not resolve. */
const fileSystem = (): FileSystem | null => {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): FileSystem | undefined } };
  return process?.getBuiltinModule?.('node:fs/promises') ?? null;
};

/** Returns the bytes of a file in memory, or null. */
const bytesIn = (given: unknown): Uint8Array | null => {
  const { type, data } = (given ?? {}) as { readonly type?: unknown; readonly data?: unknown };
  const bytes = type === 'mem' ? data : given;
  return bytes instanceof Uint8Array ? bytes : null;
};

/** Returns the name of a file. @throws MsmError `bad-argument` if the form has none */
const nameIn = (what: string, given: unknown): string => {
  const { type, fileName } = (given ?? {}) as { readonly type?: unknown; readonly fileName?: unknown };
  const name = type === 'file' ? fileName : given;
  if (typeof name === 'string') return name;
  throw badArgument(`${what} must be bytes, a name, or an object of type mem or file, got ${kindOf(given)}`);
};

const readAll = (file: FileOnDisk): Promise<Uint8Array> => file.read(0, file.byteLength);

const readBytes = async (what: string, name: string): Promise<Uint8Array> => {
  const fs = fileSystem();
  return fs === null ? (await fetchFile(what, name))[0] : readAll(await FileOnDisk.open(fs, name));
};

/**
 * Identifies bytes by SHA-256, so that no copy of them has to be kept. A page that is not a secure
 * context has no such function.
 */
const digestOf = async (bytes: Uint8Array): Promise<string> => {
  const { subtle } = crypto as { readonly subtle?: SubtleCrypto };
  if (subtle === undefined) throw badArgument('zkey: keys in memory are recognised in secure contexts alone');
  const digest = new Uint8Array(await subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>));
  return `sha256 ${digest}`;
};

const inMemory = (bytes: Uint8Array): KeySource => ({
  source: bytes,
  byteLength: bytes.length,
  identify: () => digestOf(bytes),
});

const onServer = async (url: string): Promise<KeySource> => {
  const { source, byteLength, identity } = await openFetched('zkey', url, digestOf);
  return { source, byteLength, identify: async () => identity };
};

/** Returns how long it takes until a change of a file would change its times, in nanoseconds. */
const unsettledNs = ({ changedNs }: FileOnDisk): bigint => SETTLED_NS - (BigInt(Date.now()) * 1_000_000n - changedNs);

const onDisk = async (fs: FileSystem, path: string): Promise<KeySource> => {
  let file = await FileOnDisk.open(fs, path);
  const unsettled = unsettledNs(file);
  if (unsettled > 0n) {
    if (file.byteLength <= MOST_HASHED_BYTES) return inMemory(await readAll(file));
    const ms = Math.min(Number(unsettled), Number(SETTLED_NS)) / 1e6;
    await new Promise((settle) => setTimeout(settle, ms));
    file = await FileOnDisk.open(fs, path);
  }
  return { source: file, byteLength: file.byteLength, identify: () => file.identify() };
};

/**
 * Opens a key, and reads it only where it has to be fetched.
 *
 * @throws MsmError `bad-argument` for another form; and errors of the file system or of `fetch`
 */
export const openKeySource = async (given: unknown): Promise<KeySource> => {
  const bytes = bytesIn(given);
  if (bytes !== null) return inMemory(bytes);
  const name = nameIn('zkey', given);
  const fs = fileSystem();
  return fs === null ? onServer(name) : onDisk(fs, name);
};

/**
 * Reads a witness program.
 *
 * @throws MsmError `bad-argument` for another form; and errors as `openKeySource`
 */
export const readWitnessProgram = async (given: unknown): Promise<Uint8Array> =>
  bytesIn(given) ?? readBytes('wasm', nameIn('wasm', given));

const MAGIC = 'wtns';

/**
 * Reads a witness into an array of its own, which its user overwrites. Copies bytes before it
 * returns.
 *
 * @throws MsmError `bad-argument` for another form or another file; and errors as `openKeySource`
 */
export const copyWitnessFile = async (given: unknown): Promise<Uint8Array> => {
  const bytes = bytesIn(given);
  const own = bytes === null ? await readBytes('witness', nameIn('witness', given)) : new Uint8Array(bytes);
  // the library also takes values without a header, and snarkjs does not
  if ([...MAGIC].every((letter, i) => own[i] === letter.charCodeAt(0))) return own;
  own.fill(0);
  throw badArgument(`witness: the file must begin with the letters ${MAGIC}`);
};
