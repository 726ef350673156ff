/**
 * Files of servers and streams. A file of a server is read in parts, by HTTP ranges (RFC 9110, section
 * 14), or downloaded; both go on where a connection broke. Its version is the `ETag` or the
 * `Last-Modified` of the first answer: an answer with another one is refused.
 */
import { assertNotAborted, badArgument, kindOf, MsmError, show, untilAborted } from '../errors.js';
import { FileOnDisk, fileSystem } from './disk-file.js';
import type { ArrivingFile, ByteStream, FileSource, OriginOptions, RandomAccess } from './source.js';

/** Opens a file of a server or of a disk. @throws MsmError as `openOrigin` */
export const openAddress = async (
  what: string,
  address: string | URL,
  options: OriginOptions,
): Promise<FileSource | ArrivingFile> => {
  const fs = fileSystem();
  if (fs !== null && !/^(https?|data|blob):/i.test(String(address))) {
    return FileOnDisk.open(fs, address).catch((cause: unknown) => {
      throw new MsmError('bad-argument', `${what}: it cannot be opened: ${String(cause)}`, { cause });
    });
  }
  const url = urlOf(what, String(address));
  const inParts = options.inParts && url.startsWith('http') ? await openRanges(what, url, options) : null;
  return inParts ?? download(what, await request(url, {}, options.signal), options);
};

/** Returns an address in full. @throws MsmError `bad-argument` if it is none */
const urlOf = (what: string, address: string): string => {
  try {
    return new URL(address, (globalThis as { location?: Location }).location?.href).href;
  } catch (cause) {
    throw new MsmError('bad-argument', `${what}: ${show(address)} is not an address`, { cause });
  }
};

/** Reads a stream to its end. @throws MsmError as `openOrigin`, when the chunks are read */
export const readStream = (what: string, stream: ByteStream, { signal, onBytes }: OriginOptions): ArrivingFile => {
  async function* counted(): ArrivingFile['chunks'] {
    let done = 0;
    for await (const chunk of chunksIn(what, stream, signal)) {
      done += chunk.length;
      onBytes?.(done, null);
      yield chunk;
    }
  }
  return { chunks: counted(), byteLength: null };
};

/** Reads a file that arrives into a Blob, which browsers may keep on a disk. @throws errors of its chunks */
export const blobOf = async ({ chunks }: ArrivingFile): Promise<Blob> => {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  // a copy: a stream may use the memory of a chunk again
  for await (const chunk of chunks) parts.push(new Uint8Array(chunk));
  return new Blob(parts);
};

/** Asks a server for a file. @returns its answer, or the fourth one that says that it has no time */
const request = async (
  url: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<Response> => {
  for (let attempt = 0; ; attempt++) {
    const answer = await untilAborted(fetch(url, { headers, signal: signal ?? null }), signal, 'load');
    if (!isBusy(answer) || attempt + 1 >= ATTEMPTS) return answer;
    hangUp(answer);
    await pause(attempt, signal, askedForMs(answer));
  }
};

/** Fetches a file. @throws MsmError `bad-argument` if the server does not send it; and errors of `fetch` */
export const fetchFile = async (what: string, url: string): Promise<Response> => {
  const answer = await request(url, {}, undefined);
  if (answer.ok) return answer;
  hangUp(answer);
  throw refused(what, answer);
};

/** Returns whether a server may answer another time: it is overloaded, restarts, or had no time for the request. */
const isBusy = ({ status }: Response): boolean => status >= 500 || status === 429 || status === 408;

/** Returns the pause that a server asks for, in milliseconds (RFC 9110, section 10.2.3); 0 if it asks for none. */
const askedForMs = ({ headers }: Response): number => {
  const text = headers.get('retry-after') ?? '';
  const ms = /^\d+$/.test(text) ? 1000 * Number(text) : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? 0 : ms;
};

/** Ends the connection of an answer whose body nobody reads. A stalled one may never end, so nobody waits for it. */
export const hangUp = (answer: Response): void => {
  // whoever reads the body has ended it
  if (!answer.bodyUsed) void answer.body?.cancel().catch(() => undefined);
};

/** Attempts at a request, and at a range or the rest of a file without any byte, before the error is the caller's. */
const ATTEMPTS = 4;

/** Pause before the second attempt, in milliseconds; each further one takes twice as long. */
const PAUSE_MS = 100;

/** The longest pause that a server can ask for, in milliseconds. */
const MOST_PAUSE_MS = 10_000;

/** Waits before the next attempt. @param leastMs what the server asks for */
const pause = async (attempt: number, signal: AbortSignal | undefined, leastMs = 0): Promise<void> => {
  const ms = Math.min(MOST_PAUSE_MS, Math.max(leastMs, PAUSE_MS * 2 ** attempt));
  let timer: ReturnType<typeof setTimeout> | undefined;
  const waiting = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await untilAborted(waiting, signal, 'load');
  } finally {
    clearTimeout(timer);
  }
};

/** Returns the text by which a server tells versions of a file apart; empty if it does not. */
const versionOf = ({ headers }: Response): string => headers.get('etag') ?? headers.get('last-modified') ?? '';

/** A range of a file, as an answer has it. */
interface ContentRange {
  readonly from: number;
  readonly total: number;
}

/** Reads the header of an answer to a request for a range; null if it has none, or no total. */
const rangeOf = ({ status, headers }: Response): ContentRange | null => {
  const [, from, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers.get('content-range') ?? '') ?? [];
  return status === 206 && total !== undefined && headers.get('content-encoding') === null
    ? { from: Number(from), total: Number(total) }
    : null;
};

const refused = (what: string, { status }: Response): MsmError => badArgument(`${what}: the server answered ${status}`);

const changed = (what: string): MsmError => badArgument(`${what}: it changed on the server while it was read`);

/** Bytes of the first range, which also tells whether there are ranges. */
const FIRST_BYTES = 2 ** 16;

/** Asks for the first range of a file. Servers without ranges answer with all of it. */
export const requestStart = (url: string, signal: AbortSignal | undefined): Promise<Response> =>
  request(url, { range: `bytes=0-${FIRST_BYTES - 1}` }, signal);

/** Returns the bytes of a whole file, of which an answer has the first range; null if it is no such answer. */
export const totalOf = (answer: Response): number | null => {
  const range = rangeOf(answer);
  return range?.from === 0 ? range.total : null;
};

/**
 * Opens a file that is read by ranges.
 *
 * @returns null if the server has no ranges, or no versions
 * @throws MsmError `bad-argument` if the server has no time for it; and errors of `fetch`
 */
const openRanges = async (
  what: string,
  url: string,
  options: Omit<OriginOptions, 'inParts'>,
): Promise<RandomAccess | null> => {
  const first = await requestStart(url, options.signal);
  const opened = await rangesFrom(what, url, first, options);
  if (opened !== null) return opened;
  hangUp(first);
  if (isBusy(first)) throw refused(what, first);
  return null;
};

/**
 * Opens a file that is read by ranges, from the answer to `requestStart`.
 *
 * @returns null if the server has no ranges, or no versions
 */
export const rangesFrom = async (
  what: string,
  url: string,
  first: Response,
  { signal, onBytes }: Omit<OriginOptions, 'inParts'>,
): Promise<RandomAccess | null> => {
  const byteLength = totalOf(first);
  const version = versionOf(first);
  // without a version, ranges of two files would be taken for one
  if (byteLength === null || version === '') return null;
  let done = 0;
  const count = (bytes: number): void => {
    // pages are read again by each proof under a limit of memory
    done = Math.min(byteLength, done + bytes);
    onBytes?.(done, byteLength);
  };
  const reader = new RangeReader({ what, url, version, byteLength }, signal, count);
  const head = await reader.take(first, 0, Math.min(FIRST_BYTES, byteLength));
  return {
    byteLength,
    version,
    read: async (from, to) => (to <= head.length ? head.subarray(from, to) : reader.read(from, to)),
  };
};

/** A version of a file of a server. */
interface RemoteFile {
  readonly what: string;
  readonly url: string;
  readonly version: string;
  readonly byteLength: number;
}

class RangeReader {
  readonly #file: RemoteFile;
  readonly #signal: AbortSignal | undefined;
  readonly #onBytes: (bytes: number) => void;

  constructor(file: RemoteFile, signal: AbortSignal | undefined, onBytes: (bytes: number) => void) {
    this.#file = file;
    this.#signal = signal;
    this.#onBytes = onBytes;
  }

  async read(from: number, to: number): Promise<Uint8Array> {
    return this.take(null, from, to);
  }

  /**
   * Returns the bytes [from, to), and asks for the rest where a connection broke.
   *
   * @param first an answer that is there already
   */
  async take(first: Response | null, from: number, to: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(to - from);
    let answer = first;
    for (let [done, failures] = [0, 0]; done < bytes.length; ) {
      const before = done;
      let isTelling = false;
      try {
        answer ??= await request(this.#file.url, { range: `bytes=${from + done}-${to - 1}` }, this.#signal);
        this.#check(answer, from + done);
        for await (const chunk of bodyOf(this.#file.what, answer, this.#signal)) {
          if (chunk.length > bytes.length - done)
            throw badArgument(`${this.#file.what}: the server sent too many bytes`);
          bytes.set(chunk, done);
          done += chunk.length;
          isTelling = true;
          this.#onBytes(chunk.length);
          isTelling = false;
        }
        if (done < bytes.length) throw new TypeError(`${this.#file.what}: the connection ended early`);
      } catch (error) {
        if (answer !== null) hangUp(answer);
        // an error of the caller says nothing about the connection
        if (isTelling || error instanceof MsmError) throw error;
        failures = done > before ? 1 : failures + 1;
        if (failures >= ATTEMPTS) throw unreadable(this.#file.what, error);
        await pause(failures - 1, this.#signal);
      }
      answer = null;
    }
    return bytes;
  }

  #check(answer: Response, from: number): void {
    const { what, version, byteLength } = this.#file;
    const range = rangeOf(answer);
    if (!answer.ok) throw refused(what, answer);
    if (versionOf(answer) !== version || range?.total !== byteLength || range.from !== from) throw changed(what);
  }
}

const unreadable = (what: string, cause: unknown): MsmError =>
  new MsmError('bad-argument', `${what}: the server does not send it: ${String(cause)}`, { cause });

/** Yields the chunks of a body. */
async function* bodyOf(
  what: string,
  answer: Response,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  if (answer.bodyUsed) throw badArgument(`${what}: the body of the response was read already`);
  if (answer.body !== null) yield* chunksIn(what, answer.body, signal);
}

/** Yields the chunks of a stream, and ends the stream if they are not all taken. */
async function* chunksIn(
  what: string,
  stream: ByteStream,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const reader = 'getReader' in stream ? stream.getReader() : null;
  const iterator = reader === null ? (stream as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]() : null;
  let isOver = false;
  try {
    for (;;) {
      const next: { readonly done?: boolean | undefined; readonly value?: Uint8Array | undefined } = await untilAborted(
        Promise.resolve(reader?.read() ?? iterator?.next() ?? { done: true }),
        signal,
        'load',
      );
      if (next.done === true) {
        isOver = true;
        return;
      }
      const { value } = next;
      if (!(value instanceof Uint8Array)) throw badArgument(`${what}: a stream must have bytes, got ${kindOf(value)}`);
      yield value as Uint8Array<ArrayBuffer>;
    }
  } finally {
    // a stalled stream may never end, so nobody waits for it
    if (!isOver) void Promise.resolve(reader?.cancel() ?? iterator?.return?.()).catch(() => undefined);
  }
}

/** Reads the body of a response to its end. @throws MsmError as `openOrigin`, when the chunks are read */
export const download = (what: string, first: Response, { signal, onBytes }: OriginOptions): ArrivingFile => {
  // the header counts compressed bytes, and the body others
  const isEncoded = first.headers.get('content-encoding') !== null;
  const length = Number(first.headers.get('content-length') ?? Number.NaN);
  const total = isEncoded || !Number.isSafeInteger(length) ? null : length;
  return { chunks: bodyAndRest(what, first, total, { signal, onBytes }), byteLength: total };
};

/** Yields the chunks of a body, and asks for the rest where the connection broke. @param total bytes; null: unknown */
async function* bodyAndRest(
  what: string,
  first: Response,
  total: number | null,
  { signal, onBytes }: Pick<OriginOptions, 'signal' | 'onBytes'>,
): ArrivingFile['chunks'] {
  if (!first.ok) {
    hangUp(first);
    throw refused(what, first);
  }
  const version = versionOf(first);
  const canResume = total !== null && version !== '' && first.url.startsWith('http');
  let done = 0;
  let answer = first;
  for (let failures = 0; ; ) {
    const before = done;
    let isTelling = false;
    try {
      for await (const chunk of bodyOf(what, answer, signal)) {
        done += chunk.length;
        isTelling = true;
        onBytes?.(done, total);
        isTelling = false;
        yield chunk;
      }
      if (total !== null && done > total)
        throw badArgument(`${what}: the server sent more than the ${total} bytes it said`);
      if (total === null || done === total) return;
      throw new TypeError('the connection ended early');
    } catch (error) {
      // an error of the caller says nothing about the connection, and its chunk was not yielded
      if (isTelling) throw error;
      assertNotAborted(signal, 'load');
      if (error instanceof MsmError || !canResume) throw error instanceof MsmError ? error : unreadable(what, error);
      failures = done > before ? 1 : failures + 1;
      if (failures >= ATTEMPTS) throw unreadable(what, error);
    }
    await pause(failures - 1, signal);
    answer = await rest(what, first.url, { done, total: total as number, version }, signal).catch((error: unknown) => {
      if (error instanceof MsmError) throw error;
      // the next turn fails with this error
      return brokenBy(error);
    });
  }
}

/** Asks for the rest of a file. @throws MsmError `bad-argument` if it has changed, or there are no ranges */
const rest = async (
  what: string,
  url: string,
  { done, total, version }: { readonly done: number; readonly total: number; readonly version: string },
  signal: AbortSignal | undefined,
): Promise<Response> => {
  const answer = await request(url, { range: `bytes=${done}-` }, signal);
  const range = rangeOf(answer);
  if (range?.from === done && range.total === total && versionOf(answer) === version) return answer;
  hangUp(answer);
  if (range === null && answer.ok) {
    throw badArgument(`${what}: the connection ended after ${done} of ${total} bytes, and the server has no ranges`);
  }
  if (!answer.ok) throw refused(what, answer);
  throw changed(what);
};

/** Returns an answer whose body fails. */
const brokenBy = (error: unknown): Response =>
  new Response(new ReadableStream({ start: (controller) => controller.error(error) }));
