/** `field-bench`: what the operations of the field cost on this device, beside the device's peaks. */
import { bn254 } from '../../src/curves/bn254.js';
import { modulus } from '../../src/field/modulus.js';
import { fieldOperations, libraryOperations, threadsFor } from '../field-bench/kernels.js';
import { fieldBench } from '../field-bench/run.js';
import { BenchDevice } from './bench-device.js';
import type { Host } from './environment.js';
import type { Knobs } from './knobs.js';
import type { Run } from './run.js';

export async function runFieldBench(run: Run, host: Host, knobs: Knobs): Promise<void> {
  const { chains, variants, reps } = knobs;
  const bench = await BenchDevice.open(run, host, knobs);
  try {
    const { peaks, rows, skipped, copyBytesPerSecond } = await fieldBench(bench.device, modulus(bn254.p), {
      threads: threadsFor(bench.adapter.software),
      chains,
      reps,
      leastMs: 50,
      operations: variants === 'all' ? fieldOperations : libraryOperations,
      features: bench.gpu.wgslLanguageFeatures as ReadonlySet<string>,
      onProgress: (doing, done, total) => run.progress(doing, done, total),
    });
    run.signal.throwIfAborted();
    for (const peak of [...peaks, { operation: 'copy', perSecond: copyBytesPerSecond }]) {
      run.tell({ event: 'peak', ...peak }, 'progress', 'results');
    }
    for (const row of rows) run.tell({ event: 'field', ...row }, 'progress', 'results');
    for (const { operation, variant, why } of skipped) {
      run.tell({ event: 'skipped', variant: `${operation}, ${variant}`, why }, 'progress', 'results');
    }
  } finally {
    bench.destroy();
  }
  await run.end(null);
}
