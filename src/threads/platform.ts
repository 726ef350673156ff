/** Threads, as pages have them, and as Node has them. */
import type { ComputeWorker } from '../api/sharing.js';
import { nodeModule } from './node-module.js';

/** One of a page's. */
export interface PageWorker extends ComputeWorker {
  addEventListener(type: 'message' | 'messageerror' | 'error', listener: (event: never) => void): void;
}

export type StartWorker = () => ComputeWorker;

// what a worker allocates is small but for what it computes with; left alone, V8 lets as much again go stale
const ofNode = { name: 'webgpu-msm', resourceLimits: { maxYoungGenerationSizeMb: 2 } };

/** Node's module of threads, where they are to be Node's: a page of Electron has both, and wants its own. */
const nodeThreads = () =>
  typeof Worker === 'function' && 'document' in globalThis ? null : nodeModule('node:worker_threads');

/** Returns what starts the package's worker from its file; null where there are no threads. */
export const workerStarter = (): StartWorker | null => {
  const node = nodeThreads();
  // not by the URL that is below, which a bundler would make a second file of
  if (node) return () => new node.Worker(new URL(import.meta.url.replace(/[^/]*$/, 'webgpu-msm-worker.js')), ofNode);
  if (typeof Worker !== 'function') return null;
  // all of it as literals: vite refuses to bundle what it cannot read
  return () => new Worker(new URL('../msm/cpu/worker.ts', import.meta.url), { type: 'module', name: 'webgpu-msm' });
};

/**
 * Returns what starts the package's worker from its text, for where the file is not found: what bundles the package may
 * not bring it along, or serves it from another origin.
 */
export const textStarter = async (): Promise<StartWorker> => {
  const { workerText } = await import('./worker-text.js');
  const node = nodeThreads();
  if (node) return () => new node.Worker(new URL(`data:text/javascript,${encodeURIComponent(workerText)}`), ofNode);
  // not a `data:` URL, whose workers have another origin
  const url = URL.createObjectURL(new Blob([workerText], { type: 'text/javascript' }));
  return () => new Worker(url, { type: 'module', name: 'webgpu-msm' });
};

/** Threads that run at a time. */
export const threadsHere = (): number =>
  nodeModule('node:os')?.availableParallelism() ?? (globalThis.navigator?.hardwareConcurrency || 1);

/** Whether memory can be shared with workers. A page has to be cross-origin isolated for it. */
export const canShare = (): boolean =>
  typeof SharedArrayBuffer === 'function' && globalThis.crossOriginIsolated !== false;
