/**
 * The worker of the CPU: the package's `webgpu-msm-worker.js`, one file without imports and without
 * exports. It is sent the operands of a round and computes the bucket rows, or the sums of few terms, that it is
 * handed.
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
import { type PartialSums, PointSums, type SumsTask } from './point-sums.js';
import { type RoundTask, Share, type WindowSums } from './share.js';

servePool<CompiledKernel, PointAdder, RoundTask | SumsTask, WindowSums | PartialSums>({
  prepare: (kernel) => PointAdder.open(kernel),
  begin(adder, task) {
    if ('kind' in task) {
      const sums = new PointSums(adder, task);
      return { add: (chunk) => finish(sums.addChunk(chunk)), settle: () => sums.settle() };
    }
    const share = new Share(adder, task.operands);
    return {
      add: (chunk) => finish(share.addChunk(task.cuts, chunk)),
      settle: () => finish(share.settle()),
    };
  },
});
