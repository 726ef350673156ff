/** The unit of product equivalents, measured beside what is to be told in it. */
import { bn254 } from '../../src/curves/bn254.js';
import { type FieldProduct, modulus } from '../../src/field/modulus.js';
import { openDevice } from '../../src/gpu/device.js';
import { baseline, libraryProduct, threadsFor } from './kernels.js';
import { fieldSubject, makeRig } from './rig.js';

/** Chains a thread at which the library's own product is best on what was measured; the unit is measured with one. */
const LIBRARY_CHAINS = 2;

/** The library's own product of a kind, modulo a prime. */
export interface LibraryProduct {
  readonly product: FieldProduct;
  readonly p: bigint;
}

/**
 * How many plain 13-bit products of the BN254 base field a device does a second, just now. A wall time × this rate is a cost
 * that can be compared with runs at other times, when a shared machine was slower or faster.
 */
export interface ProductMeter {
  /** @returns products a second */
  measure(): Promise<number>;
  destroy(): void;
}

/**
 * Compiles, and checks the product against BigInts.
 *
 * @param library measure this product of the library's, at its best, instead of the unit
 * @param leastMs how long a dispatch takes at least
 * @throws Error `WRONG: …`
 */
export async function makeMeter(
  device: GPUDevice,
  software: boolean,
  library?: LibraryProduct,
  leastMs = 50,
): Promise<ProductMeter> {
  const [product, chains] = library === undefined ? [baseline, 1] : [libraryProduct(library.product), LIBRARY_CHAINS];
  const subject = fieldSubject(modulus(library?.p ?? bn254.p), product, chains, threadsFor(software));
  const { rate, destroy } = await makeRig(device, subject, leastMs);
  return { measure: rate, destroy };
}

/**
 * On a device of its own, so that nothing of what is measured beside it waits in its queue.
 *
 * @param onLost told when that goes away, unless the meter was destroyed
 * @throws Error `WRONG: …`, or if there is no adapter
 */
export async function openMeter(
  gpu: GPU,
  onLost: (why: string) => void,
  library?: LibraryProduct,
): Promise<ProductMeter> {
  const { device, adapter } = await openDevice({ gpu });
  let destroyed = false;
  void device.lost.then(({ message, reason }) => {
    if (!destroyed) onLost(message || reason);
  });
  const destroy = (): void => {
    destroyed = true;
    device.destroy();
  };
  try {
    const { measure } = await makeMeter(device, adapter.software, library);
    return { measure, destroy };
  } catch (error) {
    destroy();
    throw error;
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
