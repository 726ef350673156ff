/** Row `cold`: time from a new device to the first result, and pipelines compiled later. */
import type { MsmEngine } from '../../../../src/api/engine.js';
import { makeCase, redrawn } from '../../../cases/msm-case.js';
import { samePoint } from '../../../oracle/known-bases.js';
import { middleOf } from './findings.js';
import { row, SEED } from './workbench.js';

const LOGN = 10;
const TARGETS = { softwareSeconds: { most: 4 }, hardwareSeconds: { most: 1.5 }, compiled: { most: 0 } };

export const cold = row({
  name: 'cold',
  first: true,
  async measure(bench) {
    const { createMsmEngine } = await bench.library();
    const { gpu, host } = bench.bench;
    const cpuSeconds = host.cpuSeconds ?? (() => Number.NaN);
    const known = makeCase({ points: 'distinct', scalars: 'random', n: 2 ** LOGN, seed: SEED });
    const compute = async (engine: MsmEngine, index: number): Promise<void> => {
      const { scalars, expected } = redrawn(known, index);
      const sum = await engine.msm(await engine.loadBases(known.points.bytes), scalars.bytes);
      if (!samePoint(sum, expected)) throw new Error(`wrong result of MSM ${index} of a cold start`);
    };
    const starts = [];
    for (let rep = 0; rep < bench.reps; rep++) {
      await bench.announce(`cold start ${rep + 1} of ${bench.reps}`);
      const [begun, used] = [performance.now(), cpuSeconds()];
      const engine = await createMsmEngine({ curve: 'bn254', gpu, backend: 'gpu' });
      await compute(engine, rep);
      starts.push({ cpuSeconds: cpuSeconds() - used, wallSeconds: (performance.now() - begun) / 1000 });
      engine.destroy();
    }

    await bench.announce('cold: after warmup');
    const device = await bench.freshDevice();
    const [first, second] = [
      await createMsmEngine({ curve: 'bn254', device, backend: 'gpu' }),
      await createMsmEngine({ curve: 'bn254', device, backend: 'gpu' }),
    ];
    await first.warmup(2 ** LOGN);
    const warm = first.pipelines.length;
    if (warm === 0) throw new Error('warmup compiled nothing');
    await compute(first, bench.reps);
    const afterFirst = first.pipelines.length;
    await compute(second, bench.reps + 1);
    const bySecondEngine = second.pipelines.length - afterFirst;
    for (const engine of [first, second]) engine.destroy();
    return { starts, afterWarmup: afterFirst - warm, bySecondEngine };
  },
  judge({ starts, afterWarmup, bySecondEngine }, { software }) {
    const values = starts.map(({ cpuSeconds, wallSeconds }) => (software ? cpuSeconds : wallSeconds));
    const { compiled, softwareSeconds, hardwareSeconds } = TARGETS;
    return [
      {
        what: `2^${LOGN}: new device to first result, ${software ? 'CPU time' : 'total time'}`,
        target: software ? softwareSeconds : hardwareSeconds,
        ...middleOf(values),
        unit: 's',
        note: `first start of this process: ${values[0]?.toFixed(2)} s`,
      },
      { what: 'pipelines compiled by the first MSM after warmup', target: compiled, value: afterWarmup },
      { what: 'pipelines compiled by a second engine', target: compiled, value: bySecondEngine },
    ];
  },
});
