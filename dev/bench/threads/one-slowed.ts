import type { ComputeWorker } from '../../../src/api/sharing.js';
import { workerStarter } from '../../../src/msm/cpu/start-worker.js';
import { nodeModule } from '../../../src/threads/node-module.js';

const startSlowed = (): ComputeWorker => {
  // by this name bundlers see that it is a file of its own
  const Worker = nodeModule('node:worker_threads')?.Worker ?? globalThis.Worker;
  return new Worker(new URL('./slowed-worker.ts', import.meta.url), { type: 'module', name: 'slowed webgpu-msm' });
};

/**
 * What starts the workers of an engine so that one of them is slow: the first, and once that was ended the next.
 *
 * @throws Error where there are no threads
 */
export function oneSlowed(): () => ComputeWorker {
  const start = workerStarter();
  if (start === null) throw new Error('there are no workers here');
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
