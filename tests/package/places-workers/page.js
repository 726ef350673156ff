// @ts-nocheck: see compute.js
import { createMsmEngine } from '../node_modules/webgpu-msm/dist/index.js';
import { computeUntil, hasWorkers, isAlone, saidBy, tell } from './compute.js';

const WORKER = new URL('../node_modules/webgpu-msm/dist/webgpu-msm-worker.js', import.meta.url);

/**
 * The package's worker, but the first that is at work is terminated, of which a page is not told.
 */
function mortal() {
  let isDead = false;
  return class extends Worker {
    constructor() {
      super(WORKER, { type: 'module' });
    }

    postMessage(message) {
      super.postMessage(message);
      if (isDead || !('task' in message)) return;
      isDead = true;
      setTimeout(() => this.terminate(), 2);
    }
  };
}

/** Ways to compute, by the query of the page. */
const ways = {
  asItIs: () => computeUntil(createMsmEngine, hasWorkers),
  alone: () => computeUntil(createMsmEngine, isAlone()),
  /** With the package from where the query says. */
  elsewhere: async () => {
    const library = await import(new URLSearchParams(location.search).get('library'));
    return computeUntil(library.createMsmEngine, hasWorkers);
  },
  nested: () => saidBy(new Worker(new URL('./nested.js', import.meta.url), { type: 'module' })),
  /** The caller's own script, which imports that of the package. */
  ownScript: async () => {
    let started = 0;
    const createWorker = () => {
      started++;
      return new Worker(new URL('./own-worker.js', import.meta.url), { type: 'module' });
    };
    return { ...(await computeUntil(createMsmEngine, hasWorkers, { createWorker })), hasStarted: started > 0 };
  },
  terminated: () => {
    const Mortal = mortal();
    const createWorker = () => new Mortal();
    return computeUntil(createMsmEngine, ({ retried }) => retried !== null, { createWorker, maxWorkers: 1 });
  },
};

tell(ways[new URLSearchParams(location.search).get('way')]);
