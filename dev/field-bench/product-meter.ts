/** The unit of product equivalents, measured beside what is to be told in it. */
import type { AdapterDescription } from '../../src/api.js';
import { bn254 } from '../../src/curves/bn254.js';
import type { CarryMode } from '../../src/field/carry.js';
import { modulus } from '../../src/field/modulus.js';
import { describeAdapter } from '../../src/gpu/device.js';
import { baseline, libraryProduct, threadsFor } from './kernels.js';
import { fieldSubject, Rig } from './rig.js';

export interface ProductMeterOptions {
  /** Whether the device is a CPU. */
  readonly software: boolean;
  /** How long a dispatch takes at least, in milliseconds. Default 50. */
  readonly leastMs?: number;
  /** Measure the library's own product with these carries, at its best, instead of the unit. */
  readonly library?: CarryMode;
  /** Told when the meter's own device goes away, unless the meter was destroyed. */
  readonly onLost?: (why: string) => void;
}

/** Chains a thread at which the library's own product is best on what was measured; the unit is measured with one. */
const LIBRARY_CHAINS = 2;

/**
 * How many plain 13-bit products of the BN254 base field a device does a second, just now. A wall time × this rate is a cost
 * that can be compared with runs at other times, when a shared machine was slower or faster.
 */
export class ProductMeter {
  /** What it measures. */
  readonly adapter: AdapterDescription;
  readonly #rig: Rig;
  readonly #steps: number;
  readonly #own: GPUDevice | null;
  #destroyed = false;

  private constructor(rig: Rig, steps: number, device: GPUDevice, own: boolean) {
    this.#rig = rig;
    this.#steps = steps;
    this.adapter = describeAdapter(device.adapterInfo);
    this.#own = own ? device : null;
  }

  /**
   * On a device of its own, so that nothing of what is measured beside it waits in its queue.
   *
   * @throws Error `WRONG: …`, or if there is no adapter
   */
  static async open(gpu: GPU, options: Omit<ProductMeterOptions, 'software'> = {}): Promise<ProductMeter> {
    const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
    if (adapter === null) throw new Error('WebGPU has no adapter for the product meter');
    const device = await adapter.requestDevice();
    try {
      const meter = await ProductMeter.make(
        device,
        { ...options, software: describeAdapter(adapter.info).software },
        true,
      );
      void device.lost.then(({ message, reason }) => {
        if (!meter.#destroyed) options.onLost?.(message || reason);
      });
      return meter;
    } catch (error) {
      device.destroy();
      throw error;
    }
  }

  /**
   * Compiles, and checks the product against BigInts.
   *
   * @param device stays the caller's, unless it is said to be the meter's own
   * @throws Error `WRONG: …`
   */
  static async make(
    device: GPUDevice,
    { software, leastMs = 50, library }: ProductMeterOptions,
    own = false,
  ): Promise<ProductMeter> {
    const [product, chains] = library === undefined ? [baseline, 1] : [libraryProduct(library), LIBRARY_CHAINS];
    const rig = await Rig.make(device, fieldSubject(modulus(bn254.p), product, chains, threadsFor(software)));
    try {
      return new ProductMeter(rig, await rig.calibrate(leastMs), device, own);
    } catch (error) {
      rig.destroy();
      throw error;
    }
  }

  /** @returns products a second */
  async measure(): Promise<number> {
    return this.#rig.rate(this.#steps, await this.#rig.run(this.#steps));
  }

  destroy(): void {
    this.#destroyed = true;
    this.#rig.destroy();
    this.#own?.destroy();
  }
}

/**
 * The rate around each of the runs that follow one another: a call right after a run gives the mean of what was measured before it and after
 * it. To be made right before the first.
 */
export const ratesAround = async (meter: Pick<ProductMeter, 'measure'>): Promise<() => Promise<number>> => {
  let before = await meter.measure();
  return async () => {
    const after = await meter.measure();
    const mean = (before + after) / 2;
    before = after;
    return mean;
  };
};
