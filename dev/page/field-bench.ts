import { bn254 } from '../../src/curves/bn254.js';
import { MsmError } from '../../src/errors.js';
import { modulus } from '../../src/field/modulus.js';
import { describeAdapter } from '../../src/gpu/device.js';
import { fieldOperations, libraryOperations, threadsFor } from '../field-bench/kernels.js';
import { fieldBench } from '../field-bench/run.js';
import type { Knobs } from './knobs.js';
import type { Run } from './run.js';

/** Measures what the field costs on this device, beside the device's peaks. */
export async function runFieldBench(run: Run, { chains, variants, reps }: Knobs): Promise<void> {
  await run.next('Opening the GPU');
  const start = performance.now();
  const gpu = navigator.gpu as GPU | undefined;
  const adapter = await gpu?.requestAdapter({ powerPreference: 'high-performance' });
  if (gpu === undefined || !adapter) throw new MsmError('no-webgpu', 'WebGPU has no adapter here');
  const described = describeAdapter(adapter.info);
  const device = await adapter.requestDevice();
  try {
    run.bench.adapter = described;
    run.tell(
      {
        event: 'init',
        mode: 'field-bench',
        query: location.search,
        adapter: described,
        userAgent: navigator.userAgent,
        createMs: performance.now() - start,
      },
      'progress',
      'results',
    );
    const { peaks, rows, skipped, copyBytesPerSecond } = await fieldBench(device, modulus(bn254.p), {
      threads: threadsFor(described.software),
      chains,
      reps,
      leastMs: 50,
      operations: variants === 'all' ? fieldOperations : libraryOperations,
      features: gpu.wgslLanguageFeatures as ReadonlySet<string>,
      onProgress: (doing, done, total) => {
        run.signal.throwIfAborted();
        Object.assign(run.bench, { doing, done, total });
        run.tick();
      },
    });
    for (const peak of [...peaks, { operation: 'copy', perSecond: copyBytesPerSecond }]) {
      run.tell({ event: 'peak', ...peak }, 'progress', 'results');
    }
    for (const row of rows) run.tell({ event: 'field', ...row }, 'progress', 'results');
    for (const each of skipped) run.tell({ event: 'skipped', ...each }, 'progress', 'results');
  } finally {
    device.destroy();
  }
  await run.end(null);
}
