/** What a warm MSM costs on a software adapter, whose times depend on what else the machine does. */
import { needs, notMeasured } from '../findings.mjs';
import { stageName } from '../names.mjs';
import { round } from '../report.mjs';

/** @typedef {Pick<import('../baseline.mjs').Run, 'productEquivalents'>} Run */

/** Millions of product equivalents. */
const TARGETS = /** @type {const} */ ([
  [10, 1.0],
  [12, 1.7],
  [14, 4.7],
  [16, 14],
  [18, 45],
]);

/** @satisfies {import('./all.mjs').Row} */
export const cost = {
  name: 'cost',

  /** @param {import('../workbench.mjs').Workbench} bench */
  async measure(bench) {
    const sizes = [];
    for (const [logn] of TARGETS) {
      if (bench.software && logn <= bench.logn) sizes.push({ logn, ...(await bench.baseline(2 ** logn)) });
    }
    return { sizes };
  },

  /**
   * @param {{ sizes: readonly { logn: number, runs: readonly Run[], productEquivalents: number, wallMs: number }[] }} measured
   * @param {import('./all.mjs').Conditions} conditions
   */
  judge({ sizes }, { software }) {
    return TARGETS.map(([logn, most]) => {
      const found = sizes.find((size) => size.logn === logn);
      const what = `${stageName(logn)}: million product equivalents`;
      if (found === undefined) return notMeasured(what, { most }, software ? needs(logn) : 'software adapters only');
      const costs = found.runs.map(({ productEquivalents }) => productEquivalents / 1e6);
      const spread = `${round(Math.min(...costs))} to ${round(Math.max(...costs))}`;
      const note = `${spread}; ${found.wallMs.toFixed(0)} ms now`;
      return { what, target: { most }, value: found.productEquivalents / 1e6, unit: 'M', note };
    });
  },
};
