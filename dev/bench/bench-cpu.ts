/** The CPU alone: no GPU is opened, as what plays one may be this very CPU. */
import { createMsmEngine } from '../../src/index.js';
import { version } from '../../src/version.js';
import { tellBeginning } from './beginning.js';
import type { BenchPlace } from './bench-place.js';
import type { Host } from './environment.js';
import type { Knobs } from './knobs.js';
import { libraryOf } from './library-of.js';
import type { Run } from './run.js';

/** Tells the run's first row. */
export async function openBenchCpu(run: Run, host: Host, knobs: Knobs): Promise<BenchPlace> {
  const begun = performance.now();
  const engine = await createMsmEngine({ curve: 'bn254', backend: 'cpu', maxWorkers: 0 });
  const { adapter } = engine;
  engine.destroy();
  tellBeginning(run, knobs, {
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
