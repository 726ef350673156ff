/**
 * A worker of the CPU engine: the package's `webgpu-msm-worker.js`, one file without imports. It is
 * sent the operands of a round and computes the bucket rows that it is handed.
 */
import { servePool } from '../../threads/serve.js';
import { type CompiledKernel, PointAdder } from '../../wasm/arithmetic/point-adder.js';
import { type RoundTask, Share, type WindowSums } from './share.js';
import { finish } from './steps.js';

servePool<CompiledKernel, PointAdder, RoundTask, WindowSums>({
  prepare: (kernel) => PointAdder.open(kernel),
  begin(adder, { operands, rowsPerChunk }) {
    const share = new Share(adder, operands);
    return {
      add: (chunk) => finish(share.add(chunk * rowsPerChunk, (chunk + 1) * rowsPerChunk)),
      settle: () => finish(share.settle()),
    };
  },
});
