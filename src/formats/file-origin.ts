/** Files that are opened before they are read: those of a server, of a disk, and streams. */
import { badArgument, notLoaded, show } from '../errors.js';
import type { KeyCacheAt } from './key-cache.js';
import type { ArrivingFile, ByteStream, FileOrigin, FileSource, OriginOptions } from './source.js';

/**
 * Opens a file. Streams and files of servers are read to their end, into a cache if there is one, else into a
 * `Blob`, unless they are read in parts.
 *
 * @param cache takes keys that arrive; what it returns must go to its `through` or `leave`
 * @throws MsmError as `beginOrigin`
 */
export const openOrigin = async (
  what: string,
  given: FileOrigin,
  options: OriginOptions,
  cache?: KeyCacheAt,
): Promise<FileSource> => {
  const begun = await beginOrigin(what, given, options);
  return isArriving(begun) ? receive(begun, cache) : begun;
};

/** Reads a file that arrives to its end. @param cache as of `openOrigin` @throws MsmError as `beginOrigin` */
export const receive = async (file: ArrivingFile, cache: KeyCacheAt | undefined): Promise<FileSource> => {
  const received = cache === undefined ? file : await cache.receive(file);
  if (!isArriving(received)) return received;
  const { blobOf } = await import('./remote-file.js').catch(notLoaded('remote-file'));
  return blobOf(received);
};

/**
 * Opens a file, and reads nothing of one that arrives.
 *
 * @param what the name of the file in errors
 * @throws MsmError `bad-argument` if it is no file, the server has none, or a stream ends too early or
 *   too late; `aborted`; and errors of `fetch`, of the stream and of the file system
 */
export const beginOrigin = async (
  what: string,
  given: FileOrigin,
  options: OriginOptions,
): Promise<FileSource | ArrivingFile> => {
  if (typeof given !== 'string' && (typeof given !== 'object' || given === null)) {
    throw badArgument(
      `${what}: the file must be bytes, a Blob, a Response, a URL, a stream or text, got ${show(given)}`,
    );
  }
  if (typeof given === 'object' && isSource(given)) return given;
  const remote = await import('./remote-file.js').catch(notLoaded('remote-file'));
  if (typeof given === 'string' || isUrl(given)) return remote.openAddress(what, given, options);
  return isResponse(given) ? remote.download(what, given, options) : remote.readStream(what, given, options);
};

/** Returns whether a file arrives, and is not read yet. */
export const isArriving = (file: FileSource | ArrivingFile): file is ArrivingFile => 'chunks' in file;

const isTagged = (given: object, tag: string): boolean => Object.prototype.toString.call(given) === `[object ${tag}]`;

/** Returns whether a value is a response of `fetch`, of this realm or of another. */
const isResponse = (given: object): given is Response => isTagged(given, 'Response') && 'body' in given;

/** Returns whether a value is a stream of bytes, as far as its methods tell. */
const isStream = (given: object): given is ByteStream =>
  typeof (given as Partial<ReadableStream>).getReader === 'function' || Symbol.asyncIterator in given;

const isUrl = (given: object): given is URL => given instanceof URL || isTagged(given, 'URL');

/** Returns whether a file needs no opening; what is none is refused by its reader. */
const isSource = (given: object): given is FileSource => !isUrl(given) && !isResponse(given) && !isStream(given);
