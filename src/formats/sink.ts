/** Places where results are written: memory, streams and files. They have all of a result or nothing. */
import { badArgument, kindOf, MsmError, show } from '../errors.js';
import { TimeSlice } from '../scheduling/time-slice.js';
import { type NodeFile, nodeModule } from '../threads/platform.js';

/** A file of a page's file system, such as `FileSystemFileHandle` of the Origin Private File System. */
export interface WritableHandle {
  /** Opens a stream whose bytes become the file when it is closed. */
  createWritable(): Promise<WritableStream<Uint8Array>>;
}

/**
 * A place for a result: a `WritableStream`; the handle of a file, in a page or a worker; or, in Node, Deno
 * and Bun, the path of a file. A stream is closed after the last byte, and aborted if the call fails. A
 * file is written under another name, and renamed after the last byte.
 */
export type Sink = WritableStream<Uint8Array> | WritableHandle | string;

/** A result that is being written. */
export interface Output {
  /** Appends bytes. The caller leaves them unchanged. */
  write(bytes: Uint8Array): Promise<void>;
  /** Completes the result. @returns its bytes if it is in memory */
  finish(): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Removes what was written. */
  discard(reason: unknown): Promise<void>;
}

/** Opens a place for a result. @throws MsmError `bad-argument`; errors of the file system */
const openOutput = async (sink: Sink | undefined): Promise<Output> => {
  if (sink === undefined) return inMemory();
  if (typeof sink === 'string') return inFile(sink);
  const { createWritable, getWriter, locked } = (sink ?? {}) as Partial<WritableHandle & WritableStream<Uint8Array>>;
  if (typeof createWritable === 'function') return inStream(await (sink as WritableHandle).createWritable());
  if (typeof getWriter !== 'function') {
    throw badArgument(`options.sink must be a WritableStream, the handle of a file or a path, got ${show(sink)}`);
  }
  if (locked) throw badArgument('options.sink is a stream that somebody else writes to: it is locked');
  return inStream(sink as WritableStream<Uint8Array>);
};

/**
 * Has `work` write a result.
 *
 * @returns the result of `work`, and the bytes where there is no sink
 * @throws what `work` throws, after the output was discarded
 */
export const written = async <Result>(
  sink: Sink | undefined,
  work: (output: Output) => Promise<Result>,
): Promise<{ readonly bytes: Uint8Array<ArrayBuffer> | undefined; readonly result: Result }> => {
  const output = await openOutput(sink);
  try {
    const result = await work(output);
    return { bytes: await output.finish(), result };
  } catch (error) {
    // the first error tells more than one of the clean-up
    await output.discard(error).catch(() => undefined);
    throw error;
  }
};

const NOTHING = new Uint8Array();

const inMemory = (): Output => {
  let parts: Uint8Array[] = [];
  return {
    async write(bytes) {
      parts.push(bytes.slice());
    },
    async finish() {
      const length = parts.reduce((sum, part) => sum + part.length, 0);
      let all: Uint8Array<ArrayBuffer>;
      try {
        all = new Uint8Array(length);
      } catch (cause) {
        throw new MsmError('out-of-memory', `there is no room for ${length} bytes: pass options.sink`, { cause });
      }
      const slice = new TimeSlice(() => undefined);
      let at = 0;
      for (const [i, part] of parts.entries()) {
        all.set(part, at);
        at += part.length;
        // so that there are no two results in memory
        parts[i] = NOTHING;
        if (slice.isOver) await slice.yield();
      }
      return all;
    },
    async discard() {
      parts = [];
    },
  };
};

const inStream = (stream: WritableStream<Uint8Array>): Output => {
  const writer = stream.getWriter();
  return {
    async write(bytes) {
      await writer.ready;
      // the stream may keep the bytes
      await writer.write(bytes.slice());
    },
    async finish() {
      await writer.close();
      return undefined;
    },
    discard: (reason) => writer.abort(reason),
  };
};

const writeAll = async (file: NodeFile, bytes: Uint8Array): Promise<void> => {
  for (let at = 0; at < bytes.length; ) {
    at += (await file.write(bytes, at, bytes.length - at)).bytesWritten;
  }
};

const inFile = async (path: string): Promise<Output> => {
  const fs = nodeModule('node:fs/promises');
  if (fs === null) throw badArgument(`options.sink must be a WritableStream here, got ${kindOf(path)}`);
  // an unpredictable name and `wx`, so that no existing file or link is used
  const fresh = `${path}.${crypto.randomUUID()}`;
  const file = await fs.open(fresh, 'wx');
  return {
    write: (bytes) => writeAll(file, bytes),
    async finish() {
      await file.sync();
      await file.close();
      await fs.rename(fresh, path);
      return undefined;
    },
    async discard() {
      await file.close().catch(() => undefined);
      await fs.rm(fresh, { force: true });
    },
  };
};
