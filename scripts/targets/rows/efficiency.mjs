/** How much of the time is arithmetic, and how near that is to what the device's arithmetic can do. */
import { needs, notMeasured } from '../findings.mjs';
import { stageName } from '../names.mjs';
import { workOf } from './work.mjs';

const EFFICIENCY_LOGN = 18;
const SHARE_LOGN = 16;
const TARGETS = { hardware: { least: 0.7 }, software: { least: 0.55 }, notArithmetic: { most: 0.15 } };

/**
 * The share of the wall that the counted products would take at the rate of the library's own product. Both are told in plain products: the rates
 * are compared in the turns of field-bench, the wall with the product right beside it, so that a machine that changes its speed in between
 * changes nothing.
 *
 * @param {number} products counted
 * @param {number} productEquivalents of the wall
 * @param {number} ownToPlain
 */
export const efficiencyOf = (products, productEquivalents, ownToPlain) => products / ownToPlain / productEquivalents;

/** @satisfies {import('./all.mjs').Row} */
export const efficiency = {
  name: 'efficiency',

  /** @param {import('../workbench.mjs').Workbench} bench */
  async measure(bench) {
    const logn = Math.min(EFFICIENCY_LOGN, bench.logn);
    const field = await bench.field();
    const { productEquivalents } = await bench.baseline(2 ** logn);
    const { all } = workOf(await bench.counts(2 ** logn), field);
    const share = bench.logn < SHARE_LOGN ? null : (await bench.baseline(2 ** SHARE_LOGN)).notArithmetic;
    return { logn, efficiency: efficiencyOf(all, productEquivalents, field.ownToPlain), notArithmetic: share };
  },

  /**
   * @param {{ logn: number, efficiency: number, notArithmetic: number | null }} measured
   * @param {import('./all.mjs').Conditions} conditions
   */
  judge({ logn, efficiency: value, notArithmetic }, conditions) {
    const what = `${stageName(logn)}: rate of its products ÷ rate of the product alone`;
    const target = conditions.software ? TARGETS.software : TARGETS.hardware;
    const smaller = logn < EFFICIENCY_LOGN ? { note: `the target is for ${stageName(EFFICIENCY_LOGN)}` } : {};
    const shareOf = `${stageName(SHARE_LOGN)}: share of the wall that is not arithmetic`;
    const why = conditions.logn < SHARE_LOGN ? needs(SHARE_LOGN) : 'no timestamp-query here';
    return [
      { what, target, value, ...smaller },
      notArithmetic === null
        ? notMeasured(shareOf, TARGETS.notArithmetic, why)
        : { what: shareOf, target: TARGETS.notArithmetic, value: notArithmetic },
    ];
  },
};
