/**
 * Files of a proof in the forms that snarkjs takes: a name, bytes, or an object that names one. Files
 * of servers are fetched again only if they may have changed.
 */
import { badArgument, kindOf } from '../errors.js';
import { FileOnDisk, type FileSystem } from '../formats/disk-file.js';
import type { FileSource, RandomAccess } from '../formats/source.js';

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
export const digestOf = async (bytes: Uint8Array): Promise<string> => {
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
 * Reads a witness into a new array, which its user overwrites. Copies bytes before it
 * returns.
 *
 * @throws MsmError `bad-argument` for another form or another file; and errors as `openKeySource`
 */
export const copyWitnessFile = async (given: unknown): Promise<Uint8Array> => {
  const bytes = bytesIn(given);
  const copied = bytes === null ? await readBytes('witness', nameIn('witness', given)) : new Uint8Array(bytes);
  // the library also takes values without a header, and snarkjs does not
  if ([...MAGIC].every((letter, i) => copied[i] === letter.charCodeAt(0))) return copied;
  copied.fill(0);
  throw badArgument(`witness: the file must begin with the letters ${MAGIC}`);
};

/** Headers by which a server tells versions of a file apart. */
const headerNames = ['etag', 'last-modified', 'content-length'] as const;
type Validators = Readonly<Record<(typeof headerNames)[number], string | null>>;

/** Time between a change and its fetch from which on `Last-Modified` tells versions apart. */
const SETTLED_MS = 60_000;

/** A version of a file that was fetched. */
interface Version {
  readonly validators: Validators;
  readonly byteLength: number;
  /** Tells its contents apart from all others. */
  readonly identity: string;
}

/** A file of a server. */
interface FetchedFile {
  readonly source: Uint8Array | RandomAccess;
  readonly byteLength: number;
  readonly identity: string;
}

/** Versions that are remembered. A forgotten one is fetched again. */
const REMEMBERED = 64;
const versions = /* @__PURE__ */ new Map<string, Version>();

const validatorsOf = ({ headers }: Response): Validators =>
  Object.fromEntries(headerNames.map((name) => [name, headers.get(name)])) as Validators;

/** Returns whether the validators would have changed with the contents. */
const areReliable = (validators: Validators): boolean => {
  if (validators.etag !== null) return true;
  const changedAt = Date.parse(validators['last-modified'] ?? '');
  // a file may change twice within the second that the header names
  return validators['content-length'] !== null && Date.now() - changedAt > SETTLED_MS;
};

/** Returns whether a server has the version still. Answers to HEAD may lack the length. */
const isUnchanged = async (url: string, { validators }: Version): Promise<boolean> => {
  if (!areReliable(validators)) return false;
  const response = await fetch(url, { method: 'HEAD' }).catch(() => null);
  if (!response?.ok) return false;
  const now = validatorsOf(response);
  const hasLength = validators.etag === null || now['content-length'] !== null;
  return headerNames.every((name) => (name === 'content-length' && !hasLength) || now[name] === validators[name]);
};

/** Fetches a file. @throws MsmError `bad-argument` if the server has no such file; and errors of `fetch` */
const fetchFile = async (what: string, url: string): Promise<readonly [bytes: Uint8Array, Response]> => {
  const response = await fetch(url);
  if (!response.ok) throw badArgument(`${what}: the server answered ${response.status}`);
  return [new Uint8Array(await response.arrayBuffer()), response];
};

/**
 * Opens a file of a server. Fetches it unless the server says by its headers that it has the version
 * that was fetched before; then it is fetched when it is read.
 *
 * @param identify returns a text that no file with other contents has
 * @throws errors of `fetchFile` and `identify`
 */
const openFetched = async (
  what: string,
  url: string,
  identify: (bytes: Uint8Array) => Promise<string>,
): Promise<FetchedFile> => {
  // relative addresses change their meaning with the address of the page
  const key = new Request(url).url;
  const fetchVersion = async () => {
    const [bytes, response] = await fetchFile(what, url);
    const version = { validators: validatorsOf(response), byteLength: bytes.length, identity: await identify(bytes) };
    versions.delete(key);
    versions.set(key, version);
    const [oldest] = versions.keys();
    if (versions.size > REMEMBERED) versions.delete(oldest as string);
    return { ...version, source: bytes };
  };
  const before = versions.get(key);
  if (before === undefined || !(await isUnchanged(url, before))) return fetchVersion();
  let fetching: Promise<Uint8Array> | null = null;
  const fetchSame = async (): Promise<Uint8Array> => {
    const { source, identity } = await fetchVersion();
    if (identity !== before.identity) throw badArgument(`${what}: it changed on the server while it was loaded`);
    return source;
  };
  const read = async (from: number, to: number): Promise<Uint8Array> => {
    fetching ??= fetchSame();
    return (await fetching).subarray(from, to);
  };
  return { ...before, source: { byteLength: before.byteLength, read } };
};

/* Memory of circom's witness programs, which are modules of WebAssembly. */

/** Id of the section of imports; before it are the types, 1, and custom sections, 0. */
const IMPORTS = 2;

/** Bytes of the letters and the version with which a module begins. */
const HEADER_BYTES = 8;

/**
 * Returns a module without the sections behind its imports: it compiles at once, however large the
 * program is.
 */
const importsOf = (program: Uint8Array): Uint8Array<ArrayBuffer> => {
  let end = HEADER_BYTES;
  while ((program[end] ?? IMPORTS + 1) <= IMPORTS) {
    // LEB128, WebAssembly Core Specification, section 5.2.2
    let [at, bytes, factor] = [end + 1, 0, 1];
    for (; ; factor *= 128) {
      const byte = program[at++] ?? 0;
      bytes += (byte & 127) * factor;
      if (byte < 128) break;
    }
    end = at + bytes;
  }
  return program.slice(0, end);
};

/**
 * Returns whether a program brings its memory along. Programs of circom 1 import it; rejects for
 * what is no module.
 */
export const hasItsMemory = async (program: Uint8Array): Promise<boolean> => {
  const imports = WebAssembly.Module.imports(await WebAssembly.compile(importsOf(program)));
  return imports.every(({ kind }) => kind !== 'memory');
};
