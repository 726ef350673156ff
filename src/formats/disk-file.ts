/// <reference lib="esnext.disposable" preserve="true" />
/** Files on a disk that are read by ranges through a handle, in Node, Deno and Bun. */
import { roomFor } from '../engine/arguments.js';
import { badArgument } from '../errors.js';
import { freshReads } from '../handle.js';
// From the entry, so that the build leaves in index.js what the two share.
import { MsmError } from '../index.js';
import { type NodeFile, type NodeFileStat, nodeModule } from '../threads/platform.js';
import type { RandomAccess } from './source.js';

/** A file on a disk, for every argument that takes a `FileSource`. Made by `openFile`. */
export interface DiskFile extends RandomAccess {
  /** Returns the bytes [from, to), which must be in the file. */
  read(from: number, to: number): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * Waits for the reads that are under way. Later reads reject with code `destroyed`. A second call
   * has no effect.
   */
  close(): Promise<void>;
  /** `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** A file of the file system, as far as it is used. */
type Handle = Pick<NodeFile, 'stat' | 'read' | 'close'>;

/** The module `node:fs/promises`, as far as it is used. */
export interface FileSystem {
  open(path: string, flags: 'r'): Promise<Handle>;
  realpath(path: string | URL): Promise<string>;
}

/** Returns `node:fs/promises`; null in a page. It uses no `import`, which bundlers could not resolve. */
export const fileSystem = (): FileSystem | null => nodeModule('node:fs/promises');

/** Returns a text that changes with the contents of a file, as far as the file system tells. */
const textOf = ({ dev, ino, size, mtimeNs, ctimeNs }: NodeFileStat): string =>
  `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;

/** The most bytes that a file system reads at once: Linux stops at 2^31 - 4096. */
const READ_BYTES = 2 ** 30;

const asyncDispose: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol('Symbol.asyncDispose');

/**
 * A file that is open while it is read, and no longer: nobody has to close it. `openAsBlob` of Node
 * counts bytes modulo 2^32, and that of Deno reads the whole file.
 */
export class FileOnDisk implements DiskFile {
  readonly [freshReads] = true;
  readonly byteLength: number;
  readonly #fs: FileSystem;
  readonly #path: string;
  readonly #opened: NodeFileStat;
  /** The handle of the reads that are under way. */
  #handle: Promise<Handle> | null = null;
  #users = 0;
  readonly #reads = new Set<Promise<void>>();
  #isClosed = false;

  private constructor(fs: FileSystem, path: string, opened: NodeFileStat) {
    this.#fs = fs;
    this.#path = path;
    this.#opened = opened;
    this.byteLength = Number(opened.size);
  }

  /** @throws MsmError `bad-argument` if the path is no file; and errors of the file system */
  static async open(fs: FileSystem, path: string | URL): Promise<FileOnDisk> {
    // absolute, as the working directory may change
    const absolute = await fs.realpath(path);
    const handle = await fs.open(absolute, 'r');
    try {
      const stat = await handle.stat({ bigint: true });
      if (!stat.isFile()) throw badArgument(`${absolute} is not a file that can be read by ranges`);
      return new FileOnDisk(fs, absolute, stat);
    } finally {
      await handle.close();
    }
  }

  get version(): string {
    return String(this.#opened.mtimeNs);
  }

  /** Nanoseconds from 1970 until the file changed last. */
  get changedNs(): bigint {
    return this.#opened.ctimeNs;
  }

  /** Returns a text that no file with other contents has. */
  async identify(): Promise<string> {
    const handle = await this.#fs.open(this.#path, 'r');
    try {
      return textOf(await handle.stat({ bigint: true }));
    } finally {
      await handle.close();
    }
  }

  /**
   * Reads [from, to).
   *
   * @throws MsmError `destroyed` after `close`; `bad-argument` if the range is not in the file, or
   *   the file has changed since it was opened; and errors of the file system
   */
  async read(from: number, to: number): Promise<Uint8Array<ArrayBuffer>> {
    if (this.#isClosed) throw new MsmError('destroyed', `${this.#path} was closed`);
    if (!(Number.isSafeInteger(from) && Number.isSafeInteger(to) && 0 <= from && from <= to && to <= this.byteLength))
      throw badArgument(`${this.#path}: [${from}, ${to}) is not a range of its ${this.byteLength} bytes`);
    const reading = this.#read(from, to);
    const settled = reading.then(
      () => undefined,
      () => undefined,
    );
    this.#reads.add(settled);
    void settled.then(() => this.#reads.delete(settled));
    return reading;
  }

  async #read(from: number, to: number): Promise<Uint8Array<ArrayBuffer>> {
    this.#users++;
    this.#handle ??= this.#open();
    try {
      const handle = await this.#handle;
      const bytes = roomFor(this.#path, to - from, 1, 'bytes');
      for (let at = 0; at < bytes.length; ) {
        const { bytesRead } = await handle.read(bytes, at, Math.min(READ_BYTES, bytes.length - at), from + at);
        if (bytesRead === 0) throw this.#changed();
        at += bytesRead;
      }
      return bytes;
    } finally {
      if (--this.#users === 0) await this.#release();
    }
  }

  async #open(): Promise<Handle> {
    const handle = await this.#fs.open(this.#path, 'r');
    try {
      if (textOf(await handle.stat({ bigint: true })) !== textOf(this.#opened)) throw this.#changed();
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  #changed(): MsmError {
    return badArgument(`${this.#path} has changed since it was opened`);
  }

  async #release(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    // the reads have failed where there is none
    await (await handle?.catch(() => null))?.close();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#reads);
  }

  [asyncDispose](): Promise<void> {
    return this.close();
  }
}
