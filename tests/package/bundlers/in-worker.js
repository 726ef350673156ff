// @ts-nocheck: see compute.js
/** Computes in a worker of the program. */
export const inWorker = () =>
  new Promise((resolve) => {
    const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => resolve({ error: `the worker failed: ${message}` });
    worker.postMessage('begin');
  });
