/**
 * Computes the roofline of an MSM: its additions at the measured rate of the library's field
 * product alone.
 */
import { median } from '../../src/calibrate/statistics.js';
import type { FieldProduct } from '../../src/field/modulus.js';
import { type CaseAddress, formatCaseAddress } from '../cases/address.js';
import type { PointDistributionName } from '../cases/point-distributions.js';
import { openMeter, type ProductMeter } from '../field-bench/product-meter.js';
import type { GpuBench } from './bench-setup.js';
import { type EngineUnderTest, gpuPartOf } from './engine-under-test.js';
import type { RowOf } from './rows.js';

/**
 * Products of an affine addition with a shared inversion (Montgomery's trick, 1987): five products
 * and a square.
 */
const PRODUCTS_OF_AN_ADDITION = 6;

/**
 * Point sets in which hardly any two points cancel or coincide. In others the count of additions is
 * unknown.
 */
const regularPoints: ReadonlySet<PointDistributionName> = new Set(['distinct', 'consecutive']);

/**
 * Measures each kind of product that a run uses, between its repetitions.
 *
 * @param p prime of the curve's field
 */
export function makeRoofline({ run, gpu, own }: GpuBench, p: bigint) {
  const meters = new Map<FieldProduct, { readonly meter: ProductMeter; rates: number[] }>();
  const rateOf = ({ engine }: Pick<EngineUnderTest, 'engine'>): number | null => {
    const product = gpuPartOf(engine.lastRun)?.tuning.fieldProduct;
    return product === undefined ? null : median(meters.get(product)?.rates ?? []);
  };
  return {
    /** Begins a case: measures the products that these engines used from now on. */
    async begin(subjects: readonly EngineUnderTest[]): Promise<void> {
      for (const { engine } of subjects) {
        const product = gpuPartOf(engine.lastRun)?.tuning.fieldProduct;
        if (product === undefined || meters.has(product)) continue;
        await run.next('Measuring the field product alone: the hardware limit');
        const meter = await openMeter(gpu, (why) => run.loseDevice(why), { product, p });
        meters.set(product, { meter: own(meter), rates: [] });
      }
      for (const each of meters.values()) each.rates = [];
    },

    async measure(): Promise<void> {
      for (const { meter, rates } of meters.values()) rates.push(await meter.measure());
    },

    /**
     * Returns the bound; null on the CPU, where digits do not give the number of additions, and in
     * G2, whose products are reduced lazily and therefore have no cost in products of the prime
     * field.
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

    /** Returns products a second of the kind the engine used last: the median of this case. */
    rateOf,
  };
}
