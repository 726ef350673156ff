/** Selects the backend of a run: a GPU device, or the CPU alone if every setting asks for it. */
import type { AdapterDescription } from '../../src/api/device.js';
import { openBenchCpu } from './bench-cpu.js';
import { openBenchDevice } from './bench-device.js';
import type { EngineSetup } from './engine-under-test.js';
import type { Host } from './environment.js';
import type { Knobs } from './knobs.js';
import type { Run } from './run.js';

export interface BenchSetup extends EngineSetup {
  readonly adapter: AdapterDescription;
  /** The GPU entry point; null if no device was opened. */
  readonly gpu: GPU | null;
  destroy(): void;
}

/**
 * Opens a device unless every setting says `backend=cpu`, and emits the first row of the run.
 *
 * @throws MsmError `no-webgpu`, `unsupported-device`
 */
export const openBenchSetup = (run: Run, host: Host, knobs: Knobs): Promise<BenchSetup> =>
  knobs.opensGpu ? openBenchDevice(run, host, knobs) : openBenchCpu(run, host, knobs);
