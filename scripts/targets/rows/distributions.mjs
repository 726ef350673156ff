/** What inputs cost that are not random scalars over distinct points, beside those that are, in turn. */
import { median } from '../../start/measure.mjs';
import { stageName } from '../names.mjs';
import { SEED } from '../workbench.mjs';

/**
 * @typedef {import('../../../dev/cases/scalar-distributions.js').ScalarDistributionName} ScalarDistributionName
 * @typedef {import('../../../dev/cases/point-distributions.js').PointDistributionName} PointDistributionName
 *
 * @typedef {object} Input
 * @property {string} what
 * @property {PointDistributionName} [points] distinct without it
 * @property {ScalarDistributionName} [scalars] random without it
 * @property {number} [most] of the ratio to random ones
 * @property {number} [mostMs] of the wall, on a real GPU
 *
 * @typedef {{ logn: number, randomMs: number[], inputs: { what: string, wallsMs: number[] }[] }} Size
 */

/** Beside the largest n, at which a bad one shows most. */
const SMALL_LOGN = 14;

/** @type {readonly Input[]} */
const INPUTS = [
  { what: 'all scalars equal', scalars: 'all-equal', most: 1.3 },
  { what: 'all points equal', points: 'all-equal', most: 1.3 },
  { what: 'one bucket and noise', scalars: 'one-bucket-and-noise', most: 1.3 },
  { what: '90 % zeros', scalars: 'mostly-zero', most: 0.2 },
  { what: '32-bit scalars', scalars: 'short-32', most: 0.25 },
  { what: 'scalars 0 and 1', scalars: 'zero-one', most: 0.15 },
  { what: 'one scalar not zero', scalars: 'one-nonzero', mostMs: 2 },
];

/** @satisfies {import('./all.mjs').Row} */
export const distributions = {
  name: 'distributions',

  /** @param {import('../workbench.mjs').Workbench} bench */
  async measure(bench) {
    const sizes = [];
    for (const logn of new Set([Math.min(SMALL_LOGN, bench.logn), bench.logn]))
      sizes.push(await timeInputs(bench, logn));
    return { sizes };
  },

  /**
   * @param {{ sizes: readonly Size[] }} measured
   * @param {import('./all.mjs').Conditions} conditions
   */
  judge({ sizes }, { software }) {
    return sizes.flatMap(({ logn, randomMs, inputs }) =>
      INPUTS.map(({ what, most, mostMs }) => {
        const walls = inputs.find((input) => input.what === what)?.wallsMs ?? [];
        const name = `${stageName(logn)}: ${what}`;
        if (mostMs !== undefined) {
          return { what: name, target: software ? null : { most: mostMs }, value: median(walls), unit: 'ms' };
        }
        const value = median(walls) / median(randomMs);
        return { what: name, target: most === undefined ? null : { most }, value, unit: '×' };
      }),
    );
  },
};

/**
 * @param {import('../workbench.mjs').Workbench} bench
 * @param {number} logn
 * @returns {Promise<Size>}
 */
async function timeInputs(bench, logn) {
  const n = 2 ** logn;
  const { engine, contestant, logs, rounds } = await bench.stage(n);
  const { Contestant, pointDistributions, roundMaker } = bench.tools;
  const contenders = [];
  for (const { what, points, scalars = 'random' } of INPUTS) {
    bench.progress(`n = ${n}: ${what}: making, warming up`);
    const own = points === undefined ? null : pointDistributions[points].make(n, SEED);
    const of = own === null ? contestant : await Contestant.load(`n = ${n}, ${what}`, engine, own.bytes);
    const round = roundMaker(own?.logs ?? logs, scalars, SEED)(what, 0);
    await of.warmUp([round]);
    contenders.push({ what, of, round, wallsMs: /** @type {number[]} */ ([]) });
  }
  /** @type {number[]} */
  const randomMs = [];
  for (let rep = 0; rep < bench.reps; rep++) {
    bench.progress(`n = ${n}: distributions, run ${rep + 1} of ${bench.reps}`);
    const round = /** @type {import('../../../dev/ab/contestant.js').Round} */ (rounds[rep % rounds.length]);
    randomMs.push(await contestant.time(round));
    for (const { of, round: own, wallsMs } of contenders) wallsMs.push(await of.time(own));
  }
  return { logn, randomMs, inputs: contenders.map(({ what, wallsMs }) => ({ what, wallsMs })) };
}
