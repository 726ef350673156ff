/** Opens the device that all engines of a run share, and records the environment. */
import { MsmError } from '../../src/errors.js';
import { openDevice } from '../../src/gpu/device.js';
import { version } from '../../src/version.js';
import type { Environment, Host } from './environment.js';
import { emitInit } from './init-row.js';
import type { Knobs } from './knobs.js';
import { libraryOf } from './library-of.js';
import type { Run } from './run.js';
import type { Setting } from './settings.js';
import { timestampQuantum } from './timestamp-quantum.js';

/**
 * Returns limits as an object. They are on the prototype, so own-property enumeration misses them.
 */
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
 * Opens a device as the library would, and emits the first row of the run.
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
    emitInit(run, knobs, { query: host.query, adapter, environment, createMs });
    const library = (setting: Pick<Setting, 'build' | 'checks'>) => libraryOf(host, setting);
    return { device, adapter, host, gpu, library, destroy };
  } catch (error) {
    destroy();
    throw error;
  }
}

async function environmentOf({ facts }: Host, gpu: GPU, device: GPUDevice): Promise<Environment> {
  // a device lists only the limits it was asked for, so the full ones come from the adapter
  const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (adapter === null) throw new MsmError('no-webgpu', 'WebGPU no longer offers an adapter; reload the page');
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
