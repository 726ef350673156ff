/** From nothing to a result: what compiling and setting up take. Measured first, so that no other row has warmed JavaScript up. */
import { bn254G1, makeKnownBases, samePoint } from '../../../dev/oracle/known-bases.mjs';
import { median } from '../../start/measure.mjs';
import { stageName } from '../names.mjs';
import { SEED, Workbench } from '../workbench.mjs';

const LOGN = 10;
const TARGETS = { softwareSeconds: { most: 4 }, hardwareSeconds: { most: 1.5 }, compiled: { most: 0 } };

/**
 * @typedef {object} Measured
 * @property {{ cpuSeconds: number, wallSeconds: number }[]} starts
 * @property {number} afterWarmup pipelines that the first MSM compiled after `warmup`
 * @property {number} bySecondEngine pipelines that another engine on the same device compiled
 */

/** @satisfies {import('./all.mjs').Row} */
export const cold = {
  name: 'cold',
  first: /** @type {const} */ (true),

  /**
   * @param {import('../workbench.mjs').Workbench} bench
   * @returns {Promise<Measured>}
   */
  async measure(bench) {
    const { createMsmEngine } = bench.library;
    const known = makeKnownBases(bn254G1, 2 ** LOGN, SEED);
    const makeRound = bench.tools.roundMaker(known.logs, 'random', SEED);
    const compute = async (/** @type {import('../workbench.mjs').MsmEngine} */ engine, /** @type {number} */ index) => {
      const { name, scalars, expected } = makeRound(`MSM ${index}`, index);
      const sum = await engine.msm(await engine.loadBases(known.bytes), scalars);
      if (!samePoint(sum, expected)) throw new Error(`WRONG: ${name} of a cold start`);
    };

    const starts = [];
    for (let rep = 0; rep < bench.reps; rep++) {
      bench.progress(`cold start ${rep + 1} of ${bench.reps}`);
      const [begun, used] = [performance.now(), process.cpuUsage()];
      const engine = await createMsmEngine({ curve: 'bn254', gpu: Workbench.gpu() });
      await compute(engine, rep);
      const { user, system } = process.cpuUsage(used);
      starts.push({ cpuSeconds: (user + system) / 1e6, wallSeconds: (performance.now() - begun) / 1000 });
      engine.destroy();
    }

    bench.progress('cold: after warmup');
    const device = await bench.freshDevice();
    const engines = [];
    for (let i = 0; i < 2; i++) engines.push(await createMsmEngine({ curve: 'bn254', device }));
    const [first, second] = /** @type {[(typeof engines)[0], (typeof engines)[0]]} */ (engines);
    await first.warmup(2 ** LOGN);
    const warm = first.pipelines.length;
    if (warm === 0) throw new Error('warmup compiled nothing');
    await compute(first, bench.reps);
    const afterFirst = first.pipelines.length;
    await compute(second, bench.reps + 1);
    const bySecondEngine = second.pipelines.length - afterFirst;
    for (const engine of engines) engine.destroy();
    device.destroy();
    return { starts, afterWarmup: afterFirst - warm, bySecondEngine };
  },

  /**
   * @param {Measured} measured
   * @param {import('./all.mjs').Conditions} conditions
   */
  judge({ starts, afterWarmup, bySecondEngine }, { software }) {
    const what = `${stageName(LOGN)}: new device to first result`;
    const seconds = (/** @type {'cpuSeconds' | 'wallSeconds'} */ kind) => starts.map((start) => start[kind]);
    const values = seconds(software ? 'cpuSeconds' : 'wallSeconds');
    return [
      {
        what: `${what}, ${software ? 'CPU' : 'wall'}`,
        target: software ? TARGETS.softwareSeconds : TARGETS.hardwareSeconds,
        value: median(values),
        unit: 's',
        note: `the first of this process ${values[0]?.toFixed(2)} s`,
      },
      { what: 'pipelines compiled by the first MSM after warmup', target: TARGETS.compiled, value: afterWarmup },
      { what: 'pipelines compiled by a second engine', target: TARGETS.compiled, value: bySecondEngine },
    ];
  },
};
