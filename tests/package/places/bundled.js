// @ts-nocheck: see multiply.js
import { createMsmEngine } from 'webgpu-msm';
import { codeFromText } from './code-from-text.js';
import { attempt, multiplyWith, tell } from './multiply.js';

function inWorker() {
  const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(`the worker failed: ${message}`));
  });
}

tell({
  page: { ...(await attempt(() => multiplyWith(createMsmEngine))), codeFromText: codeFromText() },
  worker: await attempt(inWorker),
});
