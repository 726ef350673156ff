/** Starts threads without an engine: idle workers of the package, and, in Node, empty threads. */
import type { ComputeWorker } from '../../../src/api/calls.js';
import { workerStarter } from '../../../src/msm/cpu/cpu-threads.js';
import { type NodeWorker, nodeModule, type PageWorker } from '../../../src/threads/platform.js';

/** Reports ready, as a worker of the package does, and waits. */
const EMPTY = `
import { parentPort } from 'node:worker_threads';
parentPort.on('message', () => {});
parentPort.postMessage({ say: 'ready' });`;

const starters = {
  /**
   * Starts an empty module, because loading modules, as workers of the package do, takes memory.
   */
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

/**
 * Resolves with the first message of a thread, which reports that it is ready; rejects with its
 * error.
 */
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
    ofPage.addEventListener('error', () => reject(new Error('a worker failed to load')));
  });

/**
 * Starts `count` threads at once, and waits until all are ready.
 *
 * @throws the error of a thread that failed
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
        if (thread === null) throw new Error('this host cannot start threads');
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
