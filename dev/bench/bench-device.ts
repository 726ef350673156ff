/** The device of a run, shared by all engines that it compares, and the record of where that is. */
import type { AdapterDescription } from '../../src/api.js';
import { MsmError } from '../../src/errors.js';
import { openDevice } from '../../src/gpu/device.js';
import { createMsmEngine } from '../../src/index.js';
import { version } from '../../src/version.js';
import type { Environment, Host, Library } from './environment.js';
import type { Knobs } from './knobs.js';
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

export class BenchDevice {
  readonly device: GPUDevice;
  readonly adapter: AdapterDescription;
  readonly host: Host;
  readonly gpu: GPU;
  #closed = false;

  private constructor(device: GPUDevice, adapter: AdapterDescription, host: Host) {
    this.device = device;
    this.adapter = adapter;
    this.host = host;
    this.gpu = host.gpu ?? navigator.gpu;
  }

  /**
   * Opens a device as the library would, and tells the run's first row.
   *
   * @throws MsmError `no-webgpu`, `unsupported-device`
   */
  static async open(run: Run, host: Host, { mode, seed, settings }: Knobs): Promise<BenchDevice> {
    await run.next('Opening the GPU');
    const begun = performance.now();
    const { device, adapter } = await openDevice({ gpu: host.gpu });
    const createMs = performance.now() - begun;
    const opened = new BenchDevice(device, adapter, host);
    void device.lost.then(({ message, reason }) => {
      if (!opened.#closed) run.loseDevice(message || reason);
    });
    try {
      run.bench.adapter = adapter;
      const environment = await opened.#environment(host);
      run.tell(
        {
          event: 'init',
          mode: mode ?? 'msm-bench',
          query: host.query,
          adapter,
          environment,
          seed,
          settings: settings.map(({ name }) => name),
          createMs,
        },
        'progress',
        'results',
      );
      return opened;
    } catch (error) {
      opened.destroy();
      throw error;
    }
  }

  /** What a setting is measured with: the sources of this bench, unless it names a build. */
  library({ build }: Pick<Setting, 'build'>): Promise<Library> {
    if (build === null) return Promise.resolve({ createMsmEngine });
    if (this.host.openBuild === undefined) throw new Error('there are no folders here to take a build from');
    return this.host.openBuild(build);
  }

  async #environment({ facts }: Host): Promise<Environment> {
    // a device has only what was asked for: what the adapter could do is the adapter's to say
    const adapter = await this.gpu.requestAdapter({ powerPreference: 'high-performance' });
    if (adapter === null) throw new MsmError('no-webgpu', 'WebGPU has no adapter here any more');
    const timestamps = this.device.features.has('timestamp-query');
    return {
      ...facts,
      version,
      features: [...adapter.features].sort(),
      limits: limitsOf(adapter.limits),
      wgslFeatures: [...this.gpu.wgslLanguageFeatures].sort(),
      timestamps,
      timestampQuantumNs: timestamps ? await timestampQuantum(this.device) : null,
    };
  }

  destroy(): void {
    this.#closed = true;
    this.device.destroy();
  }
}
