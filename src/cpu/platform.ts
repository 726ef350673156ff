/** Threads, as pages have them, and as Node has them. */
import type { ComputeWorker } from '../api.js';
import { nodeModule } from './node-module.js';

/** One of a page's. */
export interface PageWorker extends ComputeWorker {
  addEventListener(type: 'message' | 'messageerror' | 'error', listener: (event: never) => void): void;
}

/** How the worker of the package is started; null where there are no threads. */
export const workerStarter = (): (() => ComputeWorker) | null => {
  const node = nodeModule('node:worker_threads');
  // a page of Electron has both, and wants its own
  if (typeof Worker === 'function' && (node === null || 'document' in globalThis)) {
    return () => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'webgpu-msm' });
  }
  if (node === null) return null;
  // what it allocates is small but for what it computes with; left alone, V8 lets as much again go stale
  const options = { name: 'webgpu-msm', resourceLimits: { maxYoungGenerationSizeMb: 2 } };
  // not by the URL that is above, which a bundler would make a second file of
  return () => new node.Worker(new URL(import.meta.url.replace(/[^/]*$/, 'worker.js')), options);
};

/** Threads that run at a time. */
export const threadsHere = (): number =>
  nodeModule('node:os')?.availableParallelism() ?? (globalThis.navigator?.hardwareConcurrency || 1);

/** Whether memory can be shared with workers. A page has to be cross-origin isolated for it. */
export const canShare = (): boolean =>
  typeof SharedArrayBuffer === 'function' && globalThis.crossOriginIsolated !== false;
