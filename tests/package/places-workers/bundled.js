// @ts-nocheck: see compute.js
import { createMsmEngine } from 'webgpu-msm';
import { computeUntil, hasWorkers, tell } from './compute.js';

/** Ways to compute, by the query of the page. */
const ways = {
  asItIs: () => computeUntil(createMsmEngine, hasWorkers),
  ownScript: () => {
    const createWorker = () => new Worker(new URL('./bundled-worker.js', import.meta.url), { type: 'module' });
    return computeUntil(createMsmEngine, hasWorkers, { createWorker });
  },
};

tell(ways[new URLSearchParams(location.search).get('way')]);
