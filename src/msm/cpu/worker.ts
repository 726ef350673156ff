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
import type { SharedVectors } from '../../wasm/vectors/vector-kernel.js';
import type { VectorExports } from '../../wasm/vectors/vector-loops.js';
import {
  type ChainResults,
  type ChainTask,
  ChainWorker,
  type VectorModule,
} from '../../wasm/vectors/vector-messages.js';
import { runOnWorker, type SharedProgram } from '../../wasm/vectors/vector-program.js';
import { type PartialSums, PointSums, type SumsTask } from './point-sums.js';
import { type RoundTask, Share, type WindowSums } from './share.js';

/** Task of a round: buckets to add up, sums of few multiples, a program on vectors, or chains of operations on some. */
type Task = RoundTask | SumsTask | { readonly program: SharedProgram } | ChainTask;

/** Value that a worker prepares itself with. */
type Setup = CompiledKernel | SharedVectors | VectorModule;

type Prepared = PointAdder | VectorExports | ChainWorker;

const openVectors = async ({ module, memory }: SharedVectors): Promise<VectorExports> => {
  const { exports } = await WebAssembly.instantiate(module, { host: { memory } });
  return exports as unknown as VectorExports;
};

const prepare = (setup: Setup): Promise<Prepared> => {
  if ('memory' in setup) return openVectors(setup);
  return 'constants' in setup ? ChainWorker.open(setup) : PointAdder.open(setup);
};

servePool<Setup, Prepared, Task, WindowSums | PartialSums | ChainResults | null>({
  prepare,
  begin(prepared, task) {
    if ('chains' in task) {
      const { add, ...part } = (prepared as ChainWorker).begin(task);
      return { add: (chunk, input) => add(chunk, input as ArrayBuffer), ...part };
    }
    if ('program' in task) {
      return { add: () => runOnWorker(task.program, prepared as VectorExports), settle: () => null };
    }
    const adder = prepared as PointAdder;
    if ('kind' in task) {
      const sums = new PointSums(adder, task);
      const settle = () => {
        // a copy of the worker, which may be secret
        task.multipliers.words.fill(0);
        return sums.settle();
      };
      return { add: (chunk) => finish(sums.addChunk(chunk)), settle };
    }
    const share = new Share(adder, task.operands);
    return {
      add: (chunk) => finish(share.addChunk(task.cuts, chunk)),
      settle: () => finish(share.settle()),
    };
  },
});
