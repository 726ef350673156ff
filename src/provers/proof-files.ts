/**
 * Files of a proof in the forms that snarkjs takes: a name, bytes, or an object that names one. Files
 * of servers are fetched again only if they may have changed.
 */
import { defaultMemoryLimit } from '../engine/main-memory.js';
import { badArgument, kindOf, notLoaded } from '../errors.js';
import { FileOnDisk, type FileSystem, fileSystem } from '../formats/disk-file.js';
import { digestOf as digestOfPart, hasSha256 } from '../formats/sha256.js';
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
  return fs === null
    ? new Uint8Array(await (await fetchFile(what, name)).arrayBuffer())
    : readAll(await FileOnDisk.open(fs, name));
};

/** Bytes that are hashed at a time: the function copies them. */
const CHUNK_BYTES = 2 ** 24;

/**
 * Identifies contents by SHA-256 of the digests of their chunks, so that no copy of them has to be
 * kept. A page that is not a secure context has no such function.
 */
export const digestOf = async (contents: Uint8Array | Blob): Promise<string> => {
  if (!hasSha256()) throw badArgument('zkey: keys in memory are recognised in secure contexts alone');
  const isBytes = contents instanceof Uint8Array;
  const length = isBytes ? contents.length : contents.size;
  const digests = new Uint8Array(32 * Math.ceil(length / CHUNK_BYTES));
  for (let i = 0; 32 * i < digests.length; i++) {
    const [from, to] = [i * CHUNK_BYTES, (i + 1) * CHUNK_BYTES];
    const part = isBytes ? contents.subarray(from, to) : new Uint8Array(await contents.slice(from, to).arrayBuffer());
    digests.set(await digestOfPart(part), 32 * i);
  }
  return `sha256 ${length} ${await digestOfPart(digests)}`;
};

const inMemory = (bytes: Uint8Array): KeySource => ({
  source: bytes,
  byteLength: bytes.length,
  identify: () => digestOf(bytes),
});

const onServer = async (url: string, mostInParts: number): Promise<KeySource> => {
  const { source, byteLength, identity } = await openFetched('zkey', url, mostInParts);
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

/** Share of the default limit up to which a file has room for its points and proofs. */
const SHARE_OF_LIMIT = 1 / 2;

/**
 * Opens a key, and reads it only where it has to be fetched.
 *
 * @param isInParts true to read a file of a server by ranges, if it has them, whatever its size; false to do
 *   so where it has room: of a larger one each proof would read points from the server
 * @throws MsmError `bad-argument` for another form; and errors of the file system or of `fetch`
 */
export const openKeySource = async (given: unknown, isInParts: boolean): Promise<KeySource> => {
  const bytes = bytesIn(given);
  if (bytes !== null) return inMemory(bytes);
  const name = nameIn('zkey', given);
  const fs = fileSystem();
  if (fs !== null) return onDisk(fs, name);
  return onServer(name, isInParts ? Number.POSITIVE_INFINITY : SHARE_OF_LIMIT * defaultMemoryLimit());
};

/** Reads the last bytes of a file on a disk. @throws errors of the file system */
export const readTail = async (path: string, bytes: number): Promise<Uint8Array> => {
  const file = await FileOnDisk.open(fileSystem() as FileSystem, path);
  return file.read(file.byteLength - bytes, file.byteLength);
};

/**
 * Reads a witness program.
 *
 * @throws MsmError `bad-argument` for another form; and errors as `openKeySource`
 */
export const readWitnessProgram = async (given: unknown): Promise<Uint8Array> =>
  bytesIn(given) ?? readBytes('wasm', nameIn('wasm', given));

/**
 * Writes a file where snarkjs writes it: into an object of the type `mem`, or under a name in Node.
 *
 * @throws MsmError `bad-argument` for another form, and for a name in a page; and errors of the file
 *   system
 */
export const writeFileTo = async (what: string, target: unknown, bytes: Uint8Array): Promise<void> => {
  const { type } = (target ?? {}) as { readonly type?: unknown };
  if (type === 'mem') {
    (target as { data?: Uint8Array }).data = bytes;
    return;
  }
  const name = nameIn(what, target);
  const fs = fileSystem() as (FileSystem & { writeFile(path: string, data: Uint8Array): Promise<void> }) | null;
  if (fs === null) throw badArgument(`${what}: a page has no files; pass an object of type mem`);
  await fs.writeFile(name, bytes);
};

/** Opens a file that is read in parts where it can be. @throws as `openKeySource` */
export const openNamed = async (what: string, given: unknown): Promise<FileSource> => {
  const bytes = bytesIn(given);
  if (bytes !== null) return bytes;
  const [fs, name] = [fileSystem(), nameIn(what, given)];
  return fs === null ? (await fetchFile(what, name)).blob() : FileOnDisk.open(fs, name);
};

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
  /** Whether the validators would have changed with the contents. */
  readonly isReliable: boolean;
  readonly byteLength: number;
  /** Text of a file that is read by ranges, as `RandomAccess` has it; empty of another one. */
  readonly version: string;
  /** Tells its contents apart from all others: the validators, or a digest where they do not tell. */
  readonly identity: string;
}

/** A file of a server. */
interface FetchedFile {
  readonly source: Blob | RandomAccess;
  readonly byteLength: number;
  readonly identity: string;
}

/** Versions that are remembered. A forgotten one is fetched again. */
const REMEMBERED = 64;
const versions = /* @__PURE__ */ new Map<string, Version>();

/** @param total bytes of the file, if the answer has a part of it; else null */
const validatorsOf = ({ headers }: Response, total: number | null = null): Validators => ({
  ...(Object.fromEntries(headerNames.map((name) => [name, headers.get(name)])) as Validators),
  ...(total !== null && { 'content-length': String(total) }),
});

/** Returns whether the validators would have changed with the contents. */
const areReliable = (validators: Validators): boolean => {
  if (validators.etag !== null) return true;
  const changedAt = Date.parse(validators['last-modified'] ?? '');
  // a file may change twice within the second that the header names
  return validators['content-length'] !== null && Date.now() - changedAt > SETTLED_MS;
};

/** Returns whether validators are those of a version. Answers to HEAD may lack the length. */
const areThose = (now: Validators, { validators, isReliable }: Version): boolean => {
  const hasLength = validators.etag === null || now['content-length'] !== null;
  return (
    isReliable &&
    headerNames.every((name) => (name === 'content-length' && !hasLength) || now[name] === validators[name])
  );
};

/** Returns whether a server has the version still. */
const isUnchanged = async (url: string, version: Version): Promise<boolean> => {
  if (!version.isReliable) return false;
  const response = await fetch(url, { method: 'HEAD' }).catch(() => null);
  return response?.ok === true && areThose(validatorsOf(response), version);
};

/** Fetches a file. @throws MsmError `bad-argument` if the server does not send it; and errors of `fetch` */
const fetchFile = async (what: string, url: string): Promise<Response> => {
  const remote = await import('../formats/remote-file.js').catch(notLoaded('remote-file'));
  return remote.fetchFile(what, url);
};

/**
 * Opens a file of a server. Fetches it unless the server says by its headers that it has the version
 * that was opened before; then it is fetched when it is read. It is read by ranges, if the server has them
 * and an `ETag`: a file may change twice within the second that `Last-Modified` names. Else it is a
 * `Blob`, which pages may have on the disk.
 *
 * @param mostInParts bytes of the largest file that is read by ranges
 * @throws errors of `fetchFile`; `bad-argument` where only the contents tell versions apart, and the
 *   page has no SHA-256
 */
const openFetched = async (what: string, url: string, mostInParts: number): Promise<FetchedFile> => {
  const remote = await import('../formats/remote-file.js').catch(notLoaded('remote-file'));
  // relative addresses change their meaning with the address of the page
  const key = new Request(url).url;
  const before = versions.get(key);
  const remember = (version: Version): void => {
    versions.delete(key);
    versions.set(key, version);
    const [oldest] = versions.keys();
    if (versions.size > REMEMBERED) versions.delete(oldest as string);
  };
  const identityBy = (validators: Validators): string => `${key} ${headerNames.map((name) => validators[name])}`;
  const fetchStart = async (): Promise<Response> => {
    // a server of another origin may refuse the header
    const start = key.startsWith('http') ? await remote.requestStart(key, undefined).catch(() => null) : null;
    if (start?.ok === true) return start;
    if (start !== null) remote.hangUp(start);
    return fetchFile(what, url);
  };
  const inParts = async (start: Response, byteLength: number): Promise<FetchedFile | null> => {
    if (byteLength > mostInParts || start.headers.get('etag') === null) return null;
    const source = await remote.rangesFrom(what, key, start, { signal: undefined });
    if (source === null) return null;
    const validators = validatorsOf(start, byteLength);
    const identity = identityBy(validators);
    remember({ validators, isReliable: true, byteLength, version: source.version ?? '', identity });
    return { source, byteLength, identity };
  };
  const whole = async (response: Response): Promise<FetchedFile> => {
    const source = await response.blob();
    const validators = validatorsOf(response);
    const isReliable = areReliable(validators);
    // a digest stays the identity of contents that were recognised by it
    const isTold = isReliable && before?.identity.startsWith('sha256') !== true;
    const identity = isTold ? identityBy(validators) : await digestOf(source);
    remember({ validators, isReliable, byteLength: source.size, version: '', identity });
    return { source, byteLength: source.size, identity };
  };
  const read = async (start: Response): Promise<FetchedFile> => {
    const total = remote.totalOf(start);
    if (total === null && start.status !== 206) return whole(start);
    const opened = total === null ? null : await inParts(start, total);
    if (opened !== null) return opened;
    remote.hangUp(start);
    return whole(await fetchFile(what, url));
  };
  if (before === undefined) return read(await fetchStart());
  const readSame = async (): Promise<FetchedFile> => {
    const now = await read(await fetchStart());
    if (now.identity === before.identity) return now;
    throw badArgument(`${what}: it changed on the server while it was loaded`);
  };
  if (await isUnchanged(url, before)) return later(before, readSame);
  const start = await fetchStart();
  if (!areThose(validatorsOf(start, remote.totalOf(start)), before)) return read(start);
  // the server does not answer HEAD, and tells now
  remote.hangUp(start);
  return later(before, readSame);
};

/** Returns a version that is fetched when it is read. */
const later = ({ byteLength, version, identity }: Version, open: () => Promise<FetchedFile>): FetchedFile => {
  let opening: Promise<FetchedFile> | null = null;
  const read = async (from: number, to: number): Promise<Uint8Array> => {
    opening ??= open();
    const { source } = await opening;
    return source instanceof Blob ? new Uint8Array(await source.slice(from, to).arrayBuffer()) : source.read(from, to);
  };
  return { byteLength, identity, source: { byteLength, version, read } };
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
