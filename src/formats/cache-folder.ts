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

/** Ends the use of a file of a folder. A second call has no effect. */
export type EndUse = () => void;

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
  /**
   * Marks a file as used, for all visits. Where there is no way to do so nothing is marked.
   *
   * @returns ends the use
   */
  use(name: string): Promise<EndUse>;
  /** Removes a file that no visit uses. @returns false if one does */
  removeUnused(name: string): Promise<boolean>;
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

  /** Holds a Web Lock, which a tab that is closed or killed gives back. */
  async use(name: string): Promise<EndUse> {
    const { locks } = navigator as Partial<Navigator>;
    if (locks === undefined) return () => undefined;
    return new Promise((resolve) => {
      const held = () => new Promise<void>((release) => resolve(release));
      locks.request(this.#lockOf(name), { mode: 'shared' }, held).catch(() => resolve(() => undefined));
    });
  }

  async removeUnused(name: string): Promise<boolean> {
    const { locks } = navigator as Partial<Navigator>;
    const remove = async (): Promise<boolean> => {
      await this.remove(name);
      return true;
    };
    if (locks === undefined) return remove();
    return locks.request(this.#lockOf(name), { ifAvailable: true }, (lock) => lock !== null && remove());
  }

  #lockOf(name: string): string {
    return `webgpu-msm ${this.#handle.name}/${name}`;
  }

  async freeBytes(): Promise<number> {
    const { quota, usage = 0 } = await navigator.storage.estimate();
    return quota === undefined ? Number.POSITIVE_INFINITY : quota - usage;
  }
}

/** End of the names of files that mark others as used, behind the name of the other and a random part. */
export const USE = '.use';

/** Time between two signs of life of a use, and the time without one after which it has ended, in milliseconds. */
const [ALIVE_MS, ENDED_MS] = [30_000, 150_000];

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

  /**
   * Writes an empty file beside the file, and its time again and again. No id of a process is in it: a
   * folder may be that of several containers.
   */
  async use(name: string): Promise<EndUse> {
    const at = this.#at(`${name}.${crypto.randomUUID()}${USE}`);
    try {
      await (await this.#fs.open(at, 'wx')).close();
    } catch {
      // a folder that cannot be written evicts nothing
      return () => undefined;
    }
    const timer = setInterval(() => {
      const now = new Date();
      // all keys may have been deleted
      this.#fs.utimes(at, now, now).catch(() => clearInterval(timer));
    }, ALIVE_MS);
    (timer as { unref?(): void }).unref?.();
    return () => {
      clearInterval(timer);
      try {
        // at once: the process may end with the call that ends the use
        nodeModule('node:fs')?.rmSync(at, { force: true });
      } catch {
        // without a sign of life it counts as ended
      }
    };
  }

  async removeUnused(name: string): Promise<boolean> {
    const from = Date.now() - ENDED_MS;
    const isUsed = (await this.list()).some(
      (entry) => entry.name.startsWith(`${name}.`) && entry.name.endsWith(USE) && entry.changedMs > from,
    );
    if (!isUsed) await this.remove(name);
    return !isUsed;
  }

  async freeBytes(): Promise<number> {
    const { bavail, bsize } = await this.#fs.statfs(this.#path);
    return bavail * bsize;
  }
}
