/** The unit of product equivalents, measured beside what is to be told in it. */
import { bn254 } from '../../src/curves/bn254.js';
import { modulus } from '../../src/field/modulus.js';
import { baseline, threadsFor } from './kernels.js';
import { fieldSubject, Rig } from './rig.js';

export interface ProductMeterOptions {
  /** Whether the device is a CPU. */
  readonly software: boolean;
  /** How long a dispatch takes at least, in milliseconds. Default 50. */
  readonly leastMs?: number;
}

/**
 * How many plain 13-bit products of the BN254 base field a device does a second, just now. A wall time × this rate is a cost
 * that can be compared with runs at other times, when a shared machine was slower or faster.
 */
export class ProductMeter {
  readonly #rig: Rig;
  readonly #steps: number;

  private constructor(rig: Rig, steps: number) {
    this.#rig = rig;
    this.#steps = steps;
  }

  /**
   * Compiles, and checks the product against BigInts.
   *
   * @param device stays the caller's; one of its own, so that nothing of what is measured waits in its queue
   * @throws Error `WRONG: …`
   */
  static async make(device: GPUDevice, { software, leastMs = 50 }: ProductMeterOptions): Promise<ProductMeter> {
    const rig = await Rig.make(device, fieldSubject(modulus(bn254.p), baseline, 1, threadsFor(software)));
    try {
      return new ProductMeter(rig, await rig.calibrate(leastMs));
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
    this.#rig.destroy();
  }
}
