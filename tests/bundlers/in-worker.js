// @ts-nocheck: see compute.js
/** What the program's own worker computes. */
export const inWorker = () =>
  new Promise((resolve) => {
    const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => resolve({ error: `the worker failed: ${message}` });
    worker.postMessage('begin');
  });
