/** Ways to start the package's worker, whose file is named here and nowhere else in src/. */
import { nodeThreads, nodeWorkerOptions, type StartWorker, startFromText } from '../../threads/platform.js';

const NAME = 'webgpu-msm';

/** Returns what starts the worker from its file; null where there are no threads. */
export const workerStarter = (): StartWorker | null => {
  const node = nodeThreads();
  if (node) {
    // another URL than the one below: a bundler would emit a second file for the same literal
    const url = new URL(import.meta.url.replace(/[^/]*$/, 'webgpu-msm-worker.js'));
    return () => new node.Worker(url, nodeWorkerOptions(NAME));
  }
  if (typeof Worker !== 'function') return null;
  // literals only: vite does not bundle a worker whose URL or options it cannot read
  return () => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'webgpu-msm' });
};

/**
 * Loads what starts the worker from its text, for where its file is not found: a bundler may leave
 * the file out, or a server may have it on another origin.
 */
export const textStarter = async (): Promise<StartWorker> => {
  const { workerText } = await import('./worker-text.js');
  return startFromText(workerText, NAME);
};
