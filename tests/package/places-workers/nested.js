// @ts-nocheck: see compute.js
import { createMsmEngine } from '../node_modules/webgpu-msm/dist/index.js';
import { computeUntil, hasWorkers } from './compute.js';

postMessage(await computeUntil(createMsmEngine, hasWorkers));
