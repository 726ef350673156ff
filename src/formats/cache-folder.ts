/** Folders that a cache of keys writes to: in the origin private file system of a page, and on a disk. */
import { badArgument } from '../errors.js';
import { nodeModule } from '../threads/platform.js';
import { FileOnDisk } from './disk-file.js';
import type { FileSource } from './source.js';

/** The place of a cache, which workers can be sent. */
export interface CachePlace {
  /** The origin private file system, or a disk. */
  readonly kind: 'opfs' | 'disk';
  /** Name of the folder, or its absolute path. */
  readonly path: string;
  /** Most bytes of all keys. */
  readonly maxBytes: number;
}

/** A file of a folder. */
export interface FolderEntry {
  readonly name: string;
  readonly byteLength: number;
  /** Milliseconds from 1970 until it changed last. */
  readonly changedMs: number;
}

/** A file that is being written, from its first byte on. */
export interface FileWriter {
  /** Appends bytes. */
  write(bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
  /** Ends the writing, and removes the file where that is possible. */
  abort(): Promise<void>;
}

/** A folder without folders. */
export interface CacheFolder {
  list(): Promise<readonly FolderEntry[]>;
  /** Opens a file. @throws if there is none */
  open(name: string): Promise<FileSource>;
  /** Creates a file, or writes it anew. */
  create(name: string): Promise<FileWriter>;
  /** Opens a file to write behind its last byte. @throws if there is none */
  append(name: string): Promise<FileWriter>;
  /** Gives a file another name, which no other has. */
  rename(from: string, to: string): Promise<void>;
  /** Removes a file, if there is one. */
  remove(name: string): Promise<void>;
  /** Returns the bytes that the platform has room for; `Infinity` where it does not say. */
  freeBytes(): Promise<number>;
}

/**
 * Opens the folder of a cache, and creates it if it is missing.
 *
 * @throws MsmError `bad-argument` where the platform has no such folders; and its errors
 */
export const openCacheFolder = ({ kind, path }: CachePlace): Promise<CacheFolder> =>
  kind === 'opfs' ? PrivateFolder.open(path) : DiskFolder.open(path);

/** A handle for writing without promises, which workers alone have. */
interface SyncHandle {
  write(bytes: Uint8Array, options: { readonly at: number }): number;
  truncate(size: number): void;
  getSize(): number;
  flush(): void;
  close(): void;
}

/** Parts of the File System API that types of older compilers lack. */
interface PrivateFile extends Omit<FileSystemFileHandle, 'createWritable'> {
  createSyncAccessHandle?(): Promise<SyncHandle>;
  createWritable?(options?: { readonly keepExistingData: boolean }): Promise<{
    write(bytes: Uint8Array): Promise<void>;
    seek(position: number): Promise<void>;
    close(): Promise<void>;
    abort(): Promise<void>;
  }>;
  move?(name: string): Promise<void>;
}

/** Bytes of a file that are copied at a time. */
const COPIED_BYTES = 2 ** 24;

/** A folder of the origin private file system. */
class PrivateFolder implements CacheFolder {
  readonly #handle: FileSystemDirectoryHandle;

  private constructor(handle: FileSystemDirectoryHandle) {
    this.#handle = handle;
  }

  static async open(name: string): Promise<PrivateFolder> {
    const storage = globalThis.navigator?.storage as Partial<StorageManager> | undefined;
    if (storage?.getDirectory === undefined) {
      throw badArgument('opfsCache: there is no origin private file system, which only secure contexts have');
    }
    const root = await storage.getDirectory();
    return new PrivateFolder(await root.getDirectoryHandle(name, { create: true }));
  }

  async list(): Promise<readonly FolderEntry[]> {
    const entries: FolderEntry[] = [];
    const handles = this.#handle as unknown as { values(): AsyncIterable<FileSystemHandle> };
    for await (const handle of handles.values()) {
      if (handle.kind !== 'file') continue;
      // a file that another tab has removed, or is writing
      const file = await (handle as FileSystemFileHandle).getFile().catch(() => null);
      if (file !== null) entries.push({ name: handle.name, byteLength: file.size, changedMs: file.lastModified });
    }
    return entries;
  }

  async open(name: string): Promise<FileSource> {
    return (await this.#handle.getFileHandle(name)).getFile();
  }

  create(name: string): Promise<FileWriter> {
    return this.#write(name, false);
  }

  append(name: string): Promise<FileWriter> {
    return this.#write(name, true);
  }

  async rename(from: string, to: string): Promise<void> {
    const file = (await this.#handle.getFileHandle(from)) as PrivateFile;
    if (file.move !== undefined) return file.move(to);
    const source = await file.getFile();
    const writer = await this.create(to);
    for (let at = 0; at < source.size; at += COPIED_BYTES) {
      await writer.write(new Uint8Array(await source.slice(at, at + COPIED_BYTES).arrayBuffer()));
    }
    await writer.close();
    await this.remove(from);
  }

  /** @param isAppended true to write behind the last byte of a file that is there */
  async #write(name: string, isAppended: boolean): Promise<FileWriter> {
    const file = (await this.#handle.getFileHandle(name, { create: !isAppended })) as PrivateFile;
    const handle = await file.createSyncAccessHandle?.();
    if (handle === undefined) return this.#writeByStream(name, file, isAppended);
    if (!isAppended) handle.truncate(0);
    let at = handle.getSize();
    return {
      write: async (bytes) => {
        for (let done = 0; done < bytes.length; ) {
          const written = handle.write(bytes.subarray(done), { at });
          if (written === 0) throw badArgument('the origin private file system takes no more bytes');
          done += written;
          at += written;
        }
      },
      close: async () => {
        handle.flush();
        handle.close();
      },
      abort: async () => {
        handle.close();
        await this.remove(name);
      },
    };
  }

  async #writeByStream(name: string, file: PrivateFile, isAppended: boolean): Promise<FileWriter> {
    const stream = await file.createWritable?.({ keepExistingData: isAppended });
    if (stream === undefined) throw badArgument('opfsCache: this browser writes such files in workers alone');
    if (isAppended) await stream.seek((await file.getFile()).size);
    return {
      write: (bytes) => stream.write(bytes),
      close: () => stream.close(),
      abort: async () => {
        // a stream that was closed cannot be aborted
        await stream.abort().catch(() => undefined);
        await this.remove(name);
      },
    };
  }

  async remove(name: string): Promise<void> {
    // what is missing, or in use by another tab, stays as it is
    await this.#handle.removeEntry(name).catch(() => undefined);
  }

  async freeBytes(): Promise<number> {
    const { quota, usage = 0 } = await navigator.storage.estimate();
    return quota === undefined ? Number.POSITIVE_INFINITY : quota - usage;
  }
}

type FileModule = NonNullable<ReturnType<typeof nodeModule<'node:fs/promises'>>>;

/** A folder of a disk, in Node, Deno and Bun. */
class DiskFolder implements CacheFolder {
  readonly #fs: FileModule;
  readonly #path: string;

  private constructor(fs: FileModule, path: string) {
    this.#fs = fs;
    this.#path = path;
  }

  static async open(path: string): Promise<DiskFolder> {
    const fs = nodeModule('node:fs/promises');
    if (fs === null)
      throw badArgument('folderCache: there is no process.getBuiltinModule, which Node has from 20.16 on');
    await fs.mkdir(path, { recursive: true });
    return new DiskFolder(fs, path);
  }

  #at(name: string): string {
    return `${this.#path}/${name}`;
  }

  async list(): Promise<readonly FolderEntry[]> {
    const entries: FolderEntry[] = [];
    for (const name of await this.#fs.readdir(this.#path)) {
      // a file that another process has removed
      const stat = await this.#fs.stat(this.#at(name)).catch(() => null);
      if (stat?.isFile() === true) entries.push({ name, byteLength: stat.size, changedMs: stat.mtimeMs });
    }
    return entries;
  }

  open(name: string): Promise<FileSource> {
    return FileOnDisk.open(this.#fs, this.#at(name));
  }

  create(name: string): Promise<FileWriter> {
    return this.#write(name, 'w');
  }

  append(name: string): Promise<FileWriter> {
    return this.#write(name, 'a');
  }

  rename(from: string, to: string): Promise<void> {
    return this.#fs.rename(this.#at(from), this.#at(to));
  }

  async #write(name: string, flags: 'w' | 'a'): Promise<FileWriter> {
    const handle = await this.#fs.open(this.#at(name), flags);
    return {
      write: async (bytes) => {
        for (let at = 0; at < bytes.length; ) {
          at += (await handle.write(bytes, at, bytes.length - at)).bytesWritten;
        }
      },
      close: () => handle.close(),
      abort: async () => {
        await handle.close().catch(() => undefined);
        await this.remove(name);
      },
    };
  }

  async remove(name: string): Promise<void> {
    await this.#fs.rm(this.#at(name), { force: true });
  }

  async freeBytes(): Promise<number> {
    const { bavail, bsize } = await this.#fs.statfs(this.#path);
    return bavail * bsize;
  }
}
