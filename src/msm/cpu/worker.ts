/**
 * The worker of the CPU: the package's `webgpu-msm-worker.js`, one file without imports and without
 * exports. It is sent the operands of a round and computes the bucket rows that it is handed.
 *
 * Engines start it by themselves. A bundler or server that does not find the file beside the
 * package gets it from the option `createWorker`, from an address of its own.
 *
 * @example
 * ```ts
 * import { Worker } from 'node:worker_threads';
 * import { createMsmEngine } from 'webgpu-msm';
 *
 * const file = new URL(import.meta.resolve('webgpu-msm/worker'));
 * const createWorker = () => new Worker(file);
 * const engine = await createMsmEngine({ curve: 'bn254', createWorker });
 * engine.destroy();
 * ```
 *
 * @module worker
 */

import { finish } from '../../scheduling/time-slice.js';
import { servePool } from '../../threads/serve.js';
import type { CompiledKernel } from '../../wasm/points/kernel.js';
import { PointAdder } from '../../wasm/points/point-adder.js';
import { type RoundTask, Share, type WindowSums } from './share.js';

servePool<CompiledKernel, PointAdder, RoundTask, WindowSums>({
  prepare: (kernel) => PointAdder.open(kernel),
  begin(adder, { operands, cuts }) {
    const share = new Share(adder, operands);
    return {
      add: (chunk) => finish(share.addChunk(cuts, chunk)),
      settle: () => finish(share.settle()),
    };
  },
});
