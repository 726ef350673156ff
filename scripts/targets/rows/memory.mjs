/** GPU memory that an MSM takes beside its bases, and what it costs to have less. */
import { median } from '../../start/measure.mjs';
import { needs, notMeasured } from '../findings.mjs';
import { stageName } from '../names.mjs';

/** Millions of bytes. */
const TARGETS = /** @type {const} */ ([
  [16, 48],
  [18, 64],
  [20, 100],
]);
const TIGHT = { logn: 20, budget: 32 * 2 ** 20, target: { most: 1.5 } };

/** @satisfies {import('./all.mjs').Row} */
export const memory = {
  name: 'memory',

  /** @param {import('../workbench.mjs').Workbench} bench */
  async measure(bench) {
    const sizes = [];
    for (const [logn] of TARGETS) {
      if (logn <= bench.logn) sizes.push({ logn, peakBytes: (await bench.stage(2 ** logn)).peakBytes });
    }
    return { sizes, tight: bench.logn < TIGHT.logn ? null : await timeTight(bench) };
  },

  /** @param {{ sizes: readonly { logn: number, peakBytes: number }[], tight: { defaultMs: number[], tightMs: number[] } | null }} measured */
  judge({ sizes, tight }) {
    const what = `${stageName(TIGHT.logn)} in ${TIGHT.budget / 2 ** 20} MiB: wall ÷ the default's`;
    return [
      ...TARGETS.map(([logn, most]) => {
        const found = sizes.find((size) => size.logn === logn);
        const name = `${stageName(logn)}: peak of scratch`;
        return found === undefined
          ? notMeasured(name, { most }, needs(logn))
          : { what: name, target: { most }, value: found.peakBytes / 1e6, unit: 'MB' };
      }),
      tight === null
        ? notMeasured(what, TIGHT.target, needs(TIGHT.logn))
        : { what, target: TIGHT.target, value: median(tight.tightMs) / median(tight.defaultMs), unit: '×' },
    ];
  },
};

/** @param {import('../workbench.mjs').Workbench} bench */
async function timeTight(bench) {
  const { n, contestant, points, rounds } = await bench.stage(2 ** TIGHT.logn);
  const engine = await bench.engine({ memoryBudget: TIGHT.budget });
  const tight = await bench.tools.Contestant.load(`n = ${n}, a tight budget`, engine, points);
  bench.progress(`n = ${n}: a tight budget, warming up`);
  await tight.warmUp(rounds);
  /** @type {{ defaultMs: number[], tightMs: number[] }} */
  const walls = { defaultMs: [], tightMs: [] };
  for (let rep = 0; rep < bench.reps; rep++) {
    bench.progress(`n = ${n}: a tight budget, run ${rep + 1} of ${bench.reps}`);
    const round = /** @type {import('../../../dev/ab/contestant.js').Round} */ (rounds[rep % rounds.length]);
    walls.defaultMs.push(await contestant.time(round));
    walls.tightMs.push(await tight.time(round));
  }
  return walls;
}
