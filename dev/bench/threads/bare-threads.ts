/** Threads of Node's without an engine: workers of the package that nobody gives anything, and threads that have nothing in them. */
import { type NodeWorker, nodeModule } from '../../../src/cpu/node-module.js';
import { workerStarter } from '../../../src/cpu/platform.js';

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
  // in Node it is one of Node's
  worker: () => (workerStarter()?.() ?? null) as NodeWorker | null,
} as const;

export type BareThread = keyof typeof starters;

export interface BareThreads {
  /** Milliseconds from the start of the first until each was ready, ascending. */
  readonly readyMs: readonly number[];
  /** Resolves when all have ended. */
  end(): Promise<void>;
}

/**
 * Starts so many at once, and waits until all are ready.
 *
 * @throws what one of them died of
 */
export async function startBareThreads(which: BareThread, count: number): Promise<BareThreads> {
  const begun = performance.now();
  const readyMs: number[] = [];
  const threads: NodeWorker[] = [];
  const end = async (): Promise<void> => {
    await Promise.all(threads.map((thread) => thread.terminate()));
  };
  const ready = (thread: NodeWorker): Promise<void> =>
    new Promise((resolve, reject) => {
      thread.on('message', () => {
        readyMs.push(performance.now() - begun);
        resolve();
      });
      thread.on('error', reject);
    });
  try {
    await Promise.all(
      Array.from({ length: count }, () => {
        const thread = starters[which]();
        if (thread === null) throw new Error('there are no threads here');
        threads.push(thread);
        return ready(thread);
      }),
    );
  } catch (error) {
    await end();
    throw error;
  }
  return { readyMs, end };
}
