/** Files of servers, fetched again only if they may have changed. */
import { badArgument } from '../errors.js';
import type { RandomAccess } from '../formats/source.js';

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
export interface FetchedFile {
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
export const fetchFile = async (what: string, url: string): Promise<readonly [bytes: Uint8Array, Response]> => {
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
export const openFetched = async (
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
