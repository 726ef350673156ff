/** The device of a run, shared by all engines that it compares, and the record of where that is. */
import { MsmError } from '../../src/errors.js';
import { openDevice } from '../../src/gpu/device.js';
import { version } from '../../src/version.js';
import { tellBeginning } from './beginning.js';
import type { Environment, Host } from './environment.js';
import type { Knobs } from './knobs.js';
import { libraryOf } from './library-of.js';
import type { Run } from './run.js';
import type { Setting } from './settings.js';
import { timestampQuantum } from './timestamp-quantum.js';

/** Limits stand on the prototype, so that no enumeration of the object's own properties has them. */
const limitsOf = (limits: GPUSupportedLimits): Record<string, number> => {
  const found: Record<string, number> = {};
  for (const name in limits) {
    const value = limits[name as keyof GPUSupportedLimits];
    if (typeof value === 'number') found[name] = value;
  }
  return found;
};

export type BenchDevice = Awaited<ReturnType<typeof openBenchDevice>>;

/**
 * Opens a device as the library would, and tells the run's first row.
 *
 * @throws MsmError `no-webgpu`, `unsupported-device`
 */
export async function openBenchDevice(run: Run, host: Host, knobs: Knobs) {
  await run.next('Opening the GPU');
  const begun = performance.now();
  const { device, adapter } = await openDevice({ gpu: host.gpu });
  const createMs = performance.now() - begun;
  const gpu = host.gpu ?? navigator.gpu;
  let closed = false;
  void device.lost.then(({ message, reason }) => {
    if (!closed) run.loseDevice(message || reason);
  });
  const destroy = (): void => {
    closed = true;
    device.destroy();
  };

  try {
    const environment = await environmentOf(host, gpu, device);
    tellBeginning(run, knobs, { query: host.query, adapter, environment, createMs });
    const library = (setting: Pick<Setting, 'build' | 'checks'>) => libraryOf(host, setting);
    return { device, adapter, host, gpu, library, destroy };
  } catch (error) {
    destroy();
    throw error;
  }
}

async function environmentOf({ facts }: Host, gpu: GPU, device: GPUDevice): Promise<Environment> {
  // a device has only what was asked for: what the adapter could do is the adapter's to say
  const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (adapter === null) throw new MsmError('no-webgpu', 'WebGPU has no adapter here any more');
  const timestamps = device.features.has('timestamp-query');
  return {
    ...facts,
    version,
    features: [...adapter.features].sort(),
    limits: limitsOf(adapter.limits),
    wgslFeatures: [...gpu.wgslLanguageFeatures].sort(),
    timestamps,
    timestampQuantumNs: timestamps ? await timestampQuantum(device) : null,
  };
}
