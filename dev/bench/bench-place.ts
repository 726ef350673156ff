/** Where the MSMs of a run are computed: a device, or the CPU alone where its knobs ask for nothing else. */
import type { AdapterDescription } from '../../src/api/device.js';
import { openBenchCpu } from './bench-cpu.js';
import { openBenchDevice } from './bench-device.js';
import type { EnginePlace } from './engine-under-test.js';
import type { Host } from './environment.js';
import { type Knobs, needsGpu } from './knobs.js';
import type { Run } from './run.js';

export interface BenchPlace extends EnginePlace {
  readonly adapter: AdapterDescription;
  /** Null where no device was opened. */
  readonly gpu: GPU | null;
  destroy(): void;
}

/**
 * Opens a device unless `backend=cpu` is what every setting says, and tells the run's first row.
 *
 * @throws MsmError `no-webgpu`, `unsupported-device`
 */
export const openBenchPlace = (run: Run, host: Host, knobs: Knobs): Promise<BenchPlace> =>
  needsGpu(knobs) ? openBenchDevice(run, host, knobs) : openBenchCpu(run, host, knobs);
