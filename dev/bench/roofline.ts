/** The roofline of an MSM: its additions at the rate of the library's product alone, on this device, in this run. */

import { median } from '../../src/calibrate/statistics.js';
import type { CarryMode } from '../../src/field/carry.js';
import { type CaseAddress, formatCaseAddress } from '../cases/address.js';
import type { PointDistributionName } from '../cases/point-distributions.js';
import { ProductMeter } from '../field-bench/product-meter.js';
import type { EngineUnderTest } from './engine-under-test.js';
import type { BoundRow } from './rows.js';
import type { Run } from './run.js';

/** Products of an addition in affine coordinates that shares its inversion: five, and a square (DESIGN §2). */
const PRODUCTS_OF_AN_ADDITION = 6;

/** Sets of points of which hardly any two cancel or coincide: for others the count of additions is none. */
const regularPoints: ReadonlySet<PointDistributionName> = new Set(['distinct', 'consecutive']);

/** Products with each kind of carries that a run uses, measured between its repetitions. */
export class Roofline {
  readonly #run: Run;
  readonly #gpu: GPU;
  readonly #meters = new Map<CarryMode, { readonly meter: ProductMeter; rates: number[] }>();

  constructor(run: Run, gpu: GPU) {
    this.#run = run;
    this.#gpu = gpu;
  }

  /** Begins a case: whatever carries these engines have used is measured from now on. */
  async begin(subjects: readonly EngineUnderTest[]): Promise<void> {
    for (const { engine } of subjects) {
      const carry = engine.lastRun?.tuning.fieldCarry;
      if (carry === undefined || this.#meters.has(carry)) continue;
      await this.#run.next('Measuring the product alone: the roofline');
      const onLost = (why: string): void => this.#run.loseDevice(why);
      const meter = await ProductMeter.open(this.#gpu, { library: carry, onLost });
      this.#meters.set(carry, { meter, rates: [] });
    }
    for (const each of this.#meters.values()) each.rates = [];
  }

  async measure(): Promise<void> {
    for (const { meter, rates } of this.#meters.values()) rates.push(await meter.measure());
  }

  /** Null where there is none: on the CPU, and where additions are not what the digits say. */
  boundOf(address: CaseAddress, { engine, label }: EngineUnderTest): BoundRow | null {
    const record = engine.lastRun;
    if (record?.on !== 'gpu' || !regularPoints.has(address.points)) return null;
    const productsPerSecond = median(this.#meters.get(record.tuning.fieldCarry)?.rates ?? []);
    if (productsPerSecond === null) return null;
    const additions = record.entries;
    const products = PRODUCTS_OF_AN_ADDITION * additions;
    return {
      event: 'bound',
      case: formatCaseAddress(address),
      n: address.n,
      setting: label,
      additions,
      products,
      productsPerSecond,
      ms: (1000 * products) / productsPerSecond,
    };
  }

  destroy(): void {
    for (const { meter } of this.#meters.values()) meter.destroy();
  }
}
