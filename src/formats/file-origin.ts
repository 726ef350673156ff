/** Files that are opened before they are read: those of a server, of a disk, and streams. */
import { badArgument, notLoaded, show } from '../errors.js';
import type { KeyCacheAt } from './key-cache.js';
import type { ArrivingFile, ByteStream, FileOrigin, FileSource, OriginOptions } from './source.js';

/**
 * Opens a file. Streams and files of servers are read to their end, into a cache if there is one, else into a
 * `Blob`, unless they are read in parts.
 *
 * @param what the name of the file in errors
 * @param cache takes keys that arrive; what it returns must go to its `through` or `leave`
 * @throws MsmError `bad-argument` if it is no file, the server has none, or a stream ends too early or
 *   too late; `aborted`; and errors of `fetch`, of the stream and of the file system
 */
export const openOrigin = async (
  what: string,
  given: FileOrigin,
  options: OriginOptions,
  cache?: KeyCacheAt,
): Promise<FileSource> => {
  if (typeof given !== 'string' && (typeof given !== 'object' || given === null)) {
    throw badArgument(
      `${what}: the file must be bytes, a Blob, a Response, a URL, a stream or text, got ${show(given)}`,
    );
  }
  if (typeof given === 'object' && isSource(given)) return given;
  const remote = await import('./remote-file.js').catch(notLoaded('remote-file'));
  const opened =
    typeof given === 'string' || isUrl(given)
      ? await remote.openAddress(what, given, options)
      : isResponse(given)
        ? remote.download(what, given, options)
        : remote.readStream(what, given, options);
  if (!isArriving(opened)) return opened;
  const received = cache === undefined ? opened : await cache.receive(opened);
  return isArriving(received) ? remote.blobOf(received) : received;
};

const isArriving = (file: FileSource | ArrivingFile): file is ArrivingFile => 'chunks' in file;

const isTagged = (given: object, tag: string): boolean => Object.prototype.toString.call(given) === `[object ${tag}]`;

/** Returns whether a value is a response of `fetch`, of this realm or of another. */
const isResponse = (given: object): given is Response => isTagged(given, 'Response') && 'body' in given;

/** Returns whether a value is a stream of bytes, as far as its methods tell. */
const isStream = (given: object): given is ByteStream =>
  typeof (given as Partial<ReadableStream>).getReader === 'function' || Symbol.asyncIterator in given;

const isUrl = (given: object): given is URL => given instanceof URL || isTagged(given, 'URL');

/** Returns whether a file needs no opening; what is none is refused by its reader. */
const isSource = (given: object): given is FileSource => !isUrl(given) && !isResponse(given) && !isStream(given);
