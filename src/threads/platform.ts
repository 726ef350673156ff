/** Threads of the platform: Web Workers in pages, `node:worker_threads` in Node. */
import type { ComputeWorker } from '../api/calls.js';

/** A Web Worker. */
interface PageWorker extends ComputeWorker {
  addEventListener(type: 'message' | 'messageerror' | 'error', listener: (event: never) => void): void;
}

/** Starts one worker. */
export type StartWorker = () => ComputeWorker;

/**
 * Returns Node's module of threads where workers are to be Node's; null where they are Web
 * Workers. A page of Electron has both and takes Web Workers.
 */
export const nodeThreads = (): NodeThreads | null =>
  typeof Worker === 'function' && 'document' in globalThis ? null : nodeModule('node:worker_threads');

/**
 * Returns options of a worker in Node. The young generation is small, since a worker allocates
 * little outside its WebAssembly memory and V8 would let as much garbage accumulate as it may.
 */
export const nodeWorkerOptions = (name: string) => ({
  name,
  resourceLimits: { maxYoungGenerationSizeMb: 2 },
});

/** Returns what starts workers from the text of a module. */
export const startFromText = (text: string, name: string): StartWorker => {
  const node = nodeThreads();
  if (node) {
    const url = new URL(`data:text/javascript,${encodeURIComponent(text)}`);
    return () => new node.Worker(url, nodeWorkerOptions(name));
  }
  // a worker of a `data:` URL would have an opaque origin
  const url = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
  return () => new Worker(url, { type: 'module', name });
};

/** Returns how many threads run at a time on this machine. */
export const threadsHere = (): number =>
  nodeModule('node:os')?.availableParallelism() ?? (globalThis.navigator?.hardwareConcurrency || 1);

/** Returns whether workers can be given shared memory. A page must be cross-origin isolated. */
export const canShare = (): boolean =>
  typeof SharedArrayBuffer === 'function' && globalThis.crossOriginIsolated !== false;

/** True where threads can be started. */
const hasThreads = (): boolean => typeof Worker === 'function' || nodeModule('node:worker_threads') !== null;

/** Returns how many workers may compute beside the caller's thread. */
export const mostWorkers = ({
  maxWorkers = threadsHere() - 1,
  createWorker,
}: {
  readonly maxWorkers?: number | undefined;
  readonly createWorker?: (() => ComputeWorker) | undefined;
}): number => (createWorker !== undefined || hasThreads() ? maxWorkers : 0);

/** A worker of `node:worker_threads`. */
interface NodeWorker extends ComputeWorker {
  on(event: 'message' | 'error' | 'exit', listener: (value: never) => void): unknown;
  ref(): void;
  unref(): void;
}

/** Told of all that a worker sends, and of its death. */
export interface WorkerListener<Message> {
  message(message: Message): void;
  death(why: string): void;
}

/** Returns whether a worker is Node's. Node does not end a process while such workers have refs. */
export const isOfNode = (worker: ComputeWorker): worker is NodeWorker => 'on' in worker;

/**
 * Sends a message whose buffers move to the worker: this thread has them no more. A worker of a caller may
 * copy them instead.
 */
export const sendTo = (worker: ComputeWorker, message: unknown, transfer: readonly ArrayBuffer[]): void =>
  (worker as { postMessage(message: unknown, transfer: readonly ArrayBuffer[]): void }).postMessage(message, transfer);

/**
 * Listens to a worker. One of Node has no refs afterwards.
 *
 * @throws TypeError if `worker` is no worker
 */
export const listenTo = <Message>(worker: ComputeWorker, { message, death }: WorkerListener<Message>): void => {
  if (isOfNode(worker)) {
    worker.on('message', message);
    worker.on('error', (error: unknown) => death(`died: ${String(error)}`));
    worker.on('exit', () => death('ended'));
    worker.unref();
    return;
  }
  const page = worker as PageWorker;
  page.addEventListener('message', ({ data }: { readonly data: Message }) => message(data));
  page.addEventListener('messageerror', () => death('sent a message that could not be read'));
  page.addEventListener('error', (event: { readonly message?: string; preventDefault(): void }) => {
    event.preventDefault();
    death(`died: ${event.message ?? 'it could not be loaded'}`);
  });
};

/** A worker's end of the connection to the thread that started it, in Node. */
interface NodePort {
  postMessage(message: unknown): void;
  on(event: 'message', listener: (message: unknown) => void): void;
}

/** A file that Node reads or writes. */
export interface NodeFile {
  stat(options: { readonly bigint: true }): Promise<NodeFileStat>;
  read(into: Uint8Array, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }>;
  write(bytes: Uint8Array, offset: number, length: number): Promise<{ readonly bytesWritten: number }>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Identifies a file of Node and its contents. */
export type NodeFileStat = Readonly<Record<'dev' | 'ino' | 'size' | 'mtimeNs' | 'ctimeNs', bigint>> & {
  isFile(): boolean;
};

interface NodeModules {
  'node:crypto': {
    createHash(name: string): { update(bytes: Uint8Array): { digest(): Uint8Array<ArrayBuffer> } };
  };
  'node:fs': {
    rmSync(path: string, options: { readonly force: boolean }): void;
  };
  'node:fs/promises': {
    open(path: string, flags: 'r' | 'w' | 'wx' | 'a'): Promise<NodeFile>;
    realpath(path: string | URL): Promise<string>;
    mkdir(path: string, options: { readonly recursive: true }): Promise<unknown>;
    readdir(path: string): Promise<string[]>;
    stat(path: string): Promise<{ readonly size: number; readonly mtimeMs: number; isFile(): boolean }>;
    utimes(path: string, read: Date, changed: Date): Promise<void>;
    statfs(path: string): Promise<{ readonly bavail: number; readonly bsize: number }>;
    rename(from: string, to: string): Promise<void>;
    rm(path: string, options: { readonly force: boolean }): Promise<void>;
  };
  'node:worker_threads': {
    readonly Worker: new (
      url: URL,
      options: {
        readonly name: string;
        readonly resourceLimits?: { readonly maxYoungGenerationSizeMb: number };
      },
    ) => NodeWorker;
    /** null outside a worker. */
    readonly parentPort: NodePort | null;
  };
  'node:os': { availableParallelism(): number; totalmem(): number };
}

/** The module `node:worker_threads`, as far as it is used. */
type NodeThreads = NodeModules['node:worker_threads'];

/**
 * Returns a built-in module of Node, or null where there is no Node. It uses no `import`, which
 * bundlers for pages could not resolve.
 */
export const nodeModule = <Name extends keyof NodeModules>(name: Name): NodeModules[Name] | null => {
  const { process } = globalThis as {
    process?: { getBuiltinModule?(name: string): NodeModules[Name] | undefined };
  };
  return process?.getBuiltinModule?.(name) ?? null;
};
