import type { ComputeWorker } from '../../../src/api/calls.js';
import { workerStarter } from '../../../src/msm/cpu/cpu-threads.js';
import { nodeModule } from '../../../src/threads/platform.js';

const startSlowed = (): ComputeWorker => {
  // bundlers recognise a worker file by the name Worker
  const Worker = nodeModule('node:worker_threads')?.Worker ?? globalThis.Worker;
  return new Worker(new URL('./slowed-worker.ts', import.meta.url), { type: 'module', name: 'slowed webgpu-msm' });
};

/**
 * Returns a function that starts the workers of an engine, of which one is slow: the first, or
 * after its end the next.
 *
 * @throws Error if this host has no workers
 */
export function oneSlowed(): () => ComputeWorker {
  const start = workerStarter();
  if (start === null) throw new Error('this host cannot start workers');
  let isThere = false;
  return () => {
    if (isThere) return start();
    isThere = true;
    const worker = startSlowed();
    const terminate = worker.terminate.bind(worker);
    worker.terminate = () => {
      isThere = false;
      return terminate();
    };
    return worker;
  };
}
