/** Threads of the platform: Web Workers in pages, `node:worker_threads` in Node. */
import type { ComputeWorker } from '../api/sharing.js';
import { type NodeThreads, nodeModule } from './node-module.js';

/** A Web Worker. */
export interface PageWorker extends ComputeWorker {
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
