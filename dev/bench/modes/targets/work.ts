/**
 * Rows about the arithmetic of an MSM: its amount, counted by instrumented kernels, and its rate
 * against the device's.
 */
import { type MsmCounts, SQUARE } from '../../../count/count-msm.js';
import { type Finding, middleOf, needs, notMeasured, type Target } from './findings.js';
import { type FieldCosts, row } from './workbench.js';

export interface Work {
  readonly all: number;
  /** Combine, reduce and combining the windows on the CPU. */
  readonly afterWalk: number;
  readonly inversions: number;
  /** Number of additions. */
  readonly additions: number;
  /** 6·n·T, the products of n·T affine additions. */
  readonly irreducible: number;
}

/**
 * Products of combining windows on the CPU, where nothing counts, for each of its T·c sums, by the
 * formulas of src/curves/jacobian.ts: an addition has 8 products and 3 squares, a doubling 3
 * products and 6 squares, and leaving Montgomery form with the curve equation 4 products and a
 * square.
 */
const COMBINE_WINDOWS_PER_SUM = 8 + 3 + 4 + SQUARE * (3 + 6 + 1);

const LOGNS = [16, 18] as const;
const TARGETS = { all: { most: 1.25 }, inversions: { most: 1 }, afterWalk: { 16: { most: 0.1 }, 18: { most: 0.05 } } };

export function workOf(
  { n, windows, windowBits, phases }: MsmCounts,
  { inversion }: Pick<FieldCosts, 'inversion'>,
): Work {
  const cost = (names: readonly string[]): number =>
    Object.entries(phases)
      .filter(([name]) => names.includes(name))
      .reduce((sum, [, own]) => sum + own.products + SQUARE * own.squares + inversion * own.inversions, 0);
  const walks = ['walk', 'combine', 'reduce'].flatMap((name) => phases[name] ?? []);
  const afterWalk = cost(['combine', 'reduce']) + COMBINE_WINDOWS_PER_SUM * windows * windowBits;
  return {
    all: cost(['walk']) + afterWalk,
    afterWalk,
    inversions: inversion * walks.reduce((sum, { inversions }) => sum + inversions, 0),
    // an affine addition has six products
    additions: walks.reduce((sum, { products }) => sum + products, 0) / 6,
    irreducible: 6 * n * windows,
  };
}

interface Measured {
  readonly field: FieldCosts | null;
  readonly sizes: readonly { readonly logn: number; readonly work: Work }[];
}

export const work = row<Measured>({
  name: 'work',
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
  judge: ({ field, sizes }) =>
    LOGNS.flatMap((logn) => {
      const found = sizes.find((size) => size.logn === logn)?.work;
      const finding = (about: string, target: Target, value: (work: Work) => number): Finding => {
        const what = `2^${logn}: ${about}`;
        return found === undefined ? notMeasured(what, target, needs(logn)) : { what, target, value: value(found) };
      };
      const inversion = field === null ? {} : { note: `an inversion costs ${field.inversion.toFixed(1)} products` };
      return [
        finding('counted products ÷ 6·n·T', TARGETS.all, ({ all, irreducible }) => all / irreducible),
        {
          ...inversion,
          ...finding(
            'cost of inversions, products per addition',
            TARGETS.inversions,
            (own) => own.inversions / own.additions,
          ),
        },
        finding(
          'share of combine, reduce and combining the windows',
          TARGETS.afterWalk[logn],
          ({ afterWalk, all }) => afterWalk / all,
        ),
      ];
    }),
});

const EFFICIENCY = { logn: 18, hardware: { least: 0.7 }, software: { least: 0.55 } };
const SHARE = { logn: 16, target: { most: 0.15 } };

/**
 * Returns the share of the wall time that the counted products take at the rate of the library's
 * own product. Both are measured in plain products. The two rates come from interleaved kernels of
 * field-bench, and the wall time from plain products measured next to it, so that a machine that
 * changes its speed in between does not change the share.
 *
 * @param products counted products
 * @param productEquivalents product equivalents of the wall time
 */
export const efficiencyOf = (products: number, productEquivalents: number, ownToPlain: number): number =>
  products / ownToPlain / productEquivalents;

export const efficiency = row({
  name: 'efficiency',
  async measure(bench) {
    const logn = Math.min(EFFICIENCY.logn, bench.logn);
    const field = await bench.field();
    const { productEquivalents } = await bench.baseline(2 ** logn);
    const { all } = workOf(await bench.counts(2 ** logn), field);
    const share = bench.logn < SHARE.logn ? null : (await bench.baseline(2 ** SHARE.logn)).notArithmetic;
    return {
      logn,
      efficiency: productEquivalents.map((products) => efficiencyOf(all, products, field.ownToPlain)),
      notArithmetic: share,
    };
  },
  judge({ logn, efficiency: values, notArithmetic }, conditions) {
    const what = `2^${logn}: rate of the products in the MSM ÷ rate of the product alone`;
    const target = conditions.software ? EFFICIENCY.software : EFFICIENCY.hardware;
    const smaller = logn < EFFICIENCY.logn ? { note: `the target is for 2^${EFFICIENCY.logn}` } : {};
    const shareOf = `2^${SHARE.logn}: share of the total time that is not arithmetic`;
    const why = conditions.logn < SHARE.logn ? needs(SHARE.logn) : 'no timestamp-query here';
    return [
      { what, target, ...middleOf(values), ...smaller },
      notArithmetic === null
        ? notMeasured(shareOf, SHARE.target, why)
        : { what: shareOf, target: SHARE.target, ...middleOf(notArithmetic) },
    ];
  },
});
