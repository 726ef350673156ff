/** Sets a run up on a GPU device or on the CPU alone, and emits its first row. */
import type { AdapterDescription } from '../../src/api/device.js';
import { MsmError } from '../../src/errors.js';
import { openDevice } from '../../src/gpu/device.js';
import { createMsmEngine } from '../../src/index.js';
import { version } from '../../src/version.js';
import type { EngineSetup } from './engine-under-test.js';
import type { Environment, Host } from './environment.js';
import type { Knobs } from './knobs.js';
import { libraryOf } from './library-of.js';
import type { RowOf } from './rows.js';
import type { Run } from './run.js';
import { timestampQuantum } from './timestamp-quantum.js';

export interface BenchSetup extends EngineSetup {
  readonly adapter: AdapterDescription;
  /** The GPU entry point; null if no device was opened. */
  readonly gpu: GPU | null;
  destroy(): void;
}

/** A setup with the device that all engines of a run share. */
export type BenchDevice = Awaited<ReturnType<typeof openBenchDevice>>;

/** Emits the first row of a run, which holds all that is needed to repeat the run. */
function emitInit(
  run: Run,
  { mode, seed, settings }: Knobs,
  where: Pick<RowOf<'init'>, 'adapter' | 'environment' | 'createMs' | 'query'>,
): void {
  run.bench.adapter = where.adapter;
  const names = settings.map(({ name }) => name);
  run.emit({ event: 'init', mode: mode ?? 'msm-bench', seed, settings: names, ...where });
}

/** Opens no GPU, because a software GPU would use this very CPU. */
export async function openBenchCpu(run: Run, host: Host, knobs: Knobs): Promise<BenchSetup> {
  const begun = performance.now();
  const engine = await createMsmEngine({ curve: 'bn254', backend: 'cpu', maxWorkers: 0 });
  const { adapter } = engine;
  engine.destroy();
  const none = { features: [], limits: {}, wgslFeatures: [], timestamps: false, timestampQuantumNs: null };
  const environment = { ...host.facts, version, ...none };
  emitInit(run, knobs, { query: host.query, adapter, environment, createMs: performance.now() - begun });
  return { device: null, gpu: null, adapter, library: (setting) => libraryOf(host, setting), destroy() {} };
}

/**
 * Opens a device as the library would.
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
    const library: EngineSetup['library'] = (setting) => libraryOf(host, setting);
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
  const limits: Record<string, number> = {};
  // they are on the prototype, so own-property enumeration misses them
  for (const name in adapter.limits) {
    const value = adapter.limits[name as keyof GPUSupportedLimits];
    if (typeof value === 'number') limits[name] = value;
  }
  const timestamps = device.features.has('timestamp-query');
  return {
    ...facts,
    version,
    features: [...adapter.features].sort(),
    limits,
    wgslFeatures: [...gpu.wgslLanguageFeatures].sort(),
    timestamps,
    timestampQuantumNs: timestamps ? await timestampQuantum(device) : null,
  };
}

/**
 * Opens a device unless every setting says `backend=cpu`.
 *
 * @throws MsmError `no-webgpu`, `unsupported-device`
 */
export const openBenchSetup = (run: Run, host: Host, knobs: Knobs): Promise<BenchSetup> =>
  knobs.opensGpu ? openBenchDevice(run, host, knobs) : openBenchCpu(run, host, knobs);
