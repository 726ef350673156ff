/** The roofline of an MSM: its additions at the rate of the library's product alone, on this device, in this run. */

import { median } from '../../src/calibrate/statistics.js';
import type { FieldProduct } from '../../src/field/modulus.js';
import { type CaseAddress, formatCaseAddress } from '../cases/address.js';
import type { PointDistributionName } from '../cases/point-distributions.js';
import { openMeter, type ProductMeter } from '../field-bench/product-meter.js';
import type { EngineUnderTest } from './engine-under-test.js';
import type { RowOf } from './rows.js';
import type { Run } from './run.js';

/** Products of an addition in affine coordinates that shares its inversion: five, and a square (DESIGN §2). */
const PRODUCTS_OF_AN_ADDITION = 6;

/** Sets of points of which hardly any two cancel or coincide: for others the count of additions is none. */
const regularPoints: ReadonlySet<PointDistributionName> = new Set(['distinct', 'consecutive']);

/**
 * Products of each kind that a run uses, measured between its repetitions.
 *
 * @param p of the curve's field
 */
export function makeRoofline(run: Run, gpu: GPU, p: bigint) {
  const meters = new Map<FieldProduct, { readonly meter: ProductMeter; rates: number[] }>();
  const rateOf = ({ engine }: Pick<EngineUnderTest, 'engine'>): number | null => {
    const product = engine.lastRun?.tuning.fieldProduct;
    return product === undefined ? null : median(meters.get(product)?.rates ?? []);
  };
  return {
    /** Begins a case: whatever products these engines have used are measured from now on. */
    async begin(subjects: readonly EngineUnderTest[]): Promise<void> {
      for (const { engine } of subjects) {
        const product = engine.lastRun?.tuning.fieldProduct;
        if (product === undefined || meters.has(product)) continue;
        await run.next('Measuring the product alone: the roofline');
        const meter = await openMeter(gpu, (why) => run.loseDevice(why), { product, p });
        meters.set(product, { meter, rates: [] });
      }
      for (const each of meters.values()) each.rates = [];
    },

    async measure(): Promise<void> {
      for (const { meter, rates } of meters.values()) rates.push(await meter.measure());
    },

    /**
     * Null where there is none: on the CPU, where additions are not what the digits say, and in G2, whose products are reduced lazily: what one costs
     * in products that are not is nobody's to say.
     */
    boundOf(address: CaseAddress, { engine, label: setting }: EngineUnderTest): RowOf<'bound'> | null {
      const record = engine.lastRun;
      if (record?.on !== 'gpu' || address.group !== 'g1' || !regularPoints.has(address.points)) return null;
      const productsPerSecond = rateOf({ engine });
      if (productsPerSecond === null) return null;
      const additions = record.entries;
      const products = PRODUCTS_OF_AN_ADDITION * additions;
      const ms = (1000 * products) / productsPerSecond;
      const told = { case: formatCaseAddress(address), n: address.n, setting };
      return { event: 'bound', ...told, additions, products, productsPerSecond, ms };
    },

    /** Products a second of the kind that the engine used last: the median of those measured in this case. */
    rateOf,

    destroy(): void {
      for (const { meter } of meters.values()) meter.destroy();
    },
  };
}
