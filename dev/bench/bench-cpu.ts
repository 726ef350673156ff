/**
 * Sets a run up on the CPU alone. It opens no GPU, because a software GPU would use this very CPU.
 */
import { createMsmEngine } from '../../src/index.js';
import { version } from '../../src/version.js';
import type { BenchSetup } from './bench-setup.js';
import type { Host } from './environment.js';
import { emitInit } from './init-row.js';
import type { Knobs } from './knobs.js';
import { libraryOf } from './library-of.js';
import type { Run } from './run.js';

/** Emits the first row of the run. */
export async function openBenchCpu(run: Run, host: Host, knobs: Knobs): Promise<BenchSetup> {
  const begun = performance.now();
  const engine = await createMsmEngine({ curve: 'bn254', backend: 'cpu', maxWorkers: 0 });
  const { adapter } = engine;
  engine.destroy();
  emitInit(run, knobs, {
    query: host.query,
    adapter,
    environment: {
      ...host.facts,
      version,
      features: [],
      limits: {},
      wgslFeatures: [],
      timestamps: false,
      timestampQuantumNs: null,
    },
    createMs: performance.now() - begun,
  });
  return {
    ...{ device: null, gpu: null, adapter },
    library: (setting) => libraryOf(host, setting),
    destroy() {},
  };
}
