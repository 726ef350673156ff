// @ts-nocheck: see compute.js
/** A program that computes in the page, and in a worker of its own. */
import { outcomeOf } from './compute.js';
import { inWorker } from './in-worker.js';

outcomeOf().then(async (inPage) => {
  const both = { inPage, inWorker: await inWorker() };
  document.querySelector('output').textContent = JSON.stringify(both);
});
