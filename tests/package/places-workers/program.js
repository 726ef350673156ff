// @ts-nocheck: see compute.js
/** A program for Node and for Deno: computes, says so, and leaves the engine as it is. */
import { createMsmEngine } from '../node_modules/webgpu-msm/dist/index.js';
import { callUntil, hasWorkers } from './compute.js';

const engine = await createMsmEngine({ curve: 'bn254', backend: 'cpu', maxWorkers: 2 });
const outcome = await callUntil(engine, hasWorkers);
console.log(JSON.stringify({ ...outcome, doneAt: Date.now() }));
