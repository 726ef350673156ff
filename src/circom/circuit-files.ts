/** Files of a circuit: those of a server are downloaded, those of a disk are read by ranges. */
import { badArgument, show, untilAborted } from '../errors.js';
import { FileOnDisk, fileSystem } from '../formats/disk-file.js';
import type { FileSource } from '../formats/source.js';
import { openFile, readRange } from '../formats/source.js';
import type { CircuitFile } from './api.js';

/** Called with the bytes that have arrived, and all that the server says there are. */
type OnBytes = (done: number, total: number | null) => void;

/** Options of an opened file. */
interface FileOptions {
  readonly signal: AbortSignal | undefined;
  readonly onBytes: OnBytes;
}

/**
 * Opens a file.
 *
 * @param what the name of the file in errors
 * @throws MsmError `bad-argument` if it is no file, or the server has none; `aborted`; and errors of
 *   `fetch` and of the file system
 */
export const openCircuitFile = async (what: string, file: CircuitFile, options: FileOptions): Promise<FileSource> => {
  if (isResponse(file)) return download(what, file, options);
  const address = addressOf(file);
  if (address === null) return file as FileSource;
  const fs = fileSystem();
  if (fs !== null && !/^(https?|data|blob):/.test(String(address))) return FileOnDisk.open(fs, address);
  const response = await untilAborted(fetch(address, { signal: options.signal ?? null }), options.signal, 'load');
  return download(what, response, options);
};

/** Reads all of a file. @throws MsmError as `openFile` */
export const readAll = (what: string, file: FileSource, signal: AbortSignal | undefined): Promise<Uint8Array> => {
  const open = openFile(what, file, signal);
  return readRange(open, 0, open.byteLength);
};

/** Returns whether a value is a response of `fetch`, of this realm or of another. */
const isResponse = (file: unknown): file is Response =>
  Object.prototype.toString.call(file) === '[object Response]' && 'body' in (file as object);

/** Returns the address of a file; null for a file that is there. */
const addressOf = (file: unknown): string | URL | null => {
  if (typeof file === 'string' || file instanceof URL) return file;
  if (typeof file === 'object' && file !== null) return null;
  throw badArgument(`a file of a circuit must be bytes, a Blob, a Response, a URL or text, got ${show(file)}`);
};

/** Reads the body of a response into a Blob, which browsers may keep on a disk. */
const download = async (what: string, response: Response, { signal, onBytes }: FileOptions): Promise<Blob> => {
  if (!response.ok) throw badArgument(`${what}: the server answered ${response.status}`);
  if (response.bodyUsed) throw badArgument(`${what}: the body of the response was read already`);
  // the header counts compressed bytes, and the body others
  const isEncoded = response.headers.get('content-encoding') !== null;
  const length = Number(response.headers.get('content-length') ?? Number.NaN);
  const total = isEncoded || !Number.isSafeInteger(length) ? null : length;
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const reader = response.body?.getReader();
  try {
    for (let done = 0; reader !== undefined; ) {
      const { value, done: isOver } = await untilAborted(reader.read(), signal, 'load');
      if (isOver) break;
      chunks.push(value);
      done += value.length;
      onBytes(done, total);
    }
  } catch (error) {
    reader?.cancel().catch(() => undefined);
    throw error;
  }
  return new Blob(chunks);
};
