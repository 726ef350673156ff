/** The work of an MSM, counted by instrumented kernels, beside the products that n·T affine additions take. */
import { SQUARE } from '../../count/square.mjs';
import { needs, notMeasured } from '../findings.mjs';
import { stageName } from '../names.mjs';

/**
 * @typedef {import('../../../dev/count/count-msm.js').MsmCounts} MsmCounts
 * @typedef {import('../field.mjs').FieldCosts} FieldCosts
 *
 * @typedef {object} Work in products
 * @property {number} all
 * @property {number} afterWalk combine, reduce and fold
 * @property {number} inversions
 * @property {number} additions their number
 * @property {number} irreducible 6·n·T
 */

/**
 * The fold is on the CPU, where nothing counts; by its formulas (src/curves/jacobian.ts), for each of its T·c sums: an addition of 8 products and
 * 3 squares, a doubling of 3 products and 6 squares, and out of Montgomery form and the curve equation, 4 products and a square.
 */
const FOLD_PER_SUM = 8 + 3 + 4 + SQUARE * (3 + 6 + 1);

const LOGNS = /** @type {const} */ ([16, 18]);
const TARGETS = { all: { most: 1.25 }, inversions: { most: 1 }, afterWalk: { 16: { most: 0.1 }, 18: { most: 0.05 } } };

/**
 * @param {MsmCounts} counts
 * @param {Pick<FieldCosts, 'inversion'>} field
 * @returns {Work}
 */
export function workOf({ n, windows, windowBits, phases }, { inversion }) {
  const cost = (/** @type {readonly string[]} */ names) =>
    Object.entries(phases).reduce(
      (sum, [name, { products, squares, inversions }]) =>
        names.includes(name) ? sum + products + SQUARE * squares + inversion * inversions : sum,
      0,
    );
  const total = (/** @type {'squares' | 'inversions'} */ what) =>
    Object.values(phases).reduce((sum, counts) => sum + counts[what], 0);
  const afterWalk = cost(['combine', 'reduce']) + FOLD_PER_SUM * windows * windowBits;
  return {
    all: cost(['walk']) + afterWalk,
    afterWalk,
    inversions: inversion * total('inversions'),
    // an affine addition has one squaring
    additions: total('squares'),
    irreducible: 6 * n * windows,
  };
}

/** @satisfies {import('./all.mjs').Row} */
export const work = {
  name: 'work',

  /** @param {import('../workbench.mjs').Workbench} bench */
  async measure(bench) {
    const logns = LOGNS.filter((logn) => logn <= bench.logn);
    if (logns.length === 0) return { field: null, sizes: [] };
    const field = await bench.field();
    const sizes = [];
    for (const logn of logns) {
      const counts = await bench.counts(2 ** logn);
      sizes.push({ logn, counts, work: workOf(counts, field) });
    }
    return { field, sizes };
  },

  /** @param {{ field: FieldCosts | null, sizes: readonly { logn: number, work: Work }[] }} measured */
  judge({ field, sizes }) {
    return LOGNS.flatMap((logn) => {
      const found = sizes.find((size) => size.logn === logn)?.work;
      const finding = (
        /** @type {string} */ about,
        /** @type {import('../findings.mjs').Target} */ target,
        /** @type {(work: Work) => number} */ value,
      ) => {
        const what = `${stageName(logn)}: ${about}`;
        return found === undefined ? notMeasured(what, target, needs(logn)) : { what, target, value: value(found) };
      };
      const inversion = field === null ? {} : { note: `one is ${field.inversion.toFixed(1)} products` };
      return [
        finding('counted products ÷ 6·n·T', TARGETS.all, (work) => work.all / work.irreducible),
        {
          ...inversion,
          ...finding(
            'inversions, products an addition',
            TARGETS.inversions,
            (work) => work.inversions / work.additions,
          ),
        },
        finding('share of combine, reduce, fold', TARGETS.afterWalk[logn], (work) => work.afterWalk / work.all),
      ];
    });
  },
};
