/** Threads without an engine: workers of the package that nobody gives anything, and, in Node, threads that have nothing in them. */
import type { ComputeWorker } from '../../../src/api/sharing.js';
import { workerStarter } from '../../../src/msm/cpu/start-worker.js';
import { type NodeWorker, nodeModule } from '../../../src/threads/node-module.js';
import type { PageWorker } from '../../../src/threads/platform.js';

/** Says that it is there, as a worker of the package does, and waits. */
const EMPTY = `
import { parentPort } from 'node:worker_threads';
parentPort.on('message', () => {});
parentPort.postMessage({ say: 'ready' });`;

const starters = {
  /** A module, as a worker of the package is: to load modules takes memory, too. */
  empty: () => {
    const threads = nodeModule('node:worker_threads');
    return (
      threads && new threads.Worker(new URL(`data:text/javascript,${encodeURIComponent(EMPTY)}`), { name: 'empty' })
    );
  },
  worker: () => workerStarter()?.() ?? null,
} as const satisfies Readonly<Record<string, () => ComputeWorker | null>>;

export type BareThread = keyof typeof starters;

export interface BareThreads {
  /** Milliseconds from the start of the first until each was ready, ascending. */
  readonly readyMs: readonly number[];
  /** Resolves when all have ended. */
  end(): Promise<void>;
}

/** Resolves when a thread says its first word, which is that it is ready; rejects with what it dies of. */
const readiness = (thread: ComputeWorker): Promise<void> =>
  new Promise((resolve, reject) => {
    if ('on' in thread) {
      const ofNode = thread as NodeWorker;
      ofNode.on('message', () => resolve());
      ofNode.on('error', reject);
      return;
    }
    const ofPage = thread as PageWorker;
    ofPage.addEventListener('message', () => resolve());
    ofPage.addEventListener('error', () => reject(new Error('a worker could not be loaded')));
  });

/**
 * Starts so many at once, and waits until all are ready.
 *
 * @throws what one of them died of
 */
export async function startBareThreads(which: BareThread, count: number): Promise<BareThreads> {
  const begun = performance.now();
  const readyMs: number[] = [];
  const threads: ComputeWorker[] = [];
  const end = async (): Promise<void> => {
    await Promise.all(threads.map((thread) => thread.terminate()));
  };
  try {
    await Promise.all(
      Array.from({ length: count }, () => {
        const thread = starters[which]();
        if (thread === null) throw new Error('there are no threads here');
        threads.push(thread);
        return readiness(thread).then(() => readyMs.push(performance.now() - begun));
      }),
    );
  } catch (error) {
    await end();
    throw error;
  }
  return { readyMs, end };
}
