/** Measures the unit of product equivalents, next to a measurement that is converted to it. */
import { bn254 } from '../../src/curves/bn254.js';
import { type FieldProduct, modulus } from '../../src/field/modulus.js';
import { openDevice } from '../../src/gpu/device.js';
import { libraryProduct, threadsFor } from './kernels.js';
import { plainProduct } from './plain-product.js';
import { fieldSubject, makeRig } from './rig.js';

/**
 * Chains a thread at which the library's product was fastest on the measured devices; the unit uses
 * one.
 */
const LIBRARY_CHAINS = 2;

/** A kind of the library's product, modulo a prime. */
export interface LibraryProduct {
  readonly product: FieldProduct;
  readonly p: bigint;
}

/**
 * Measures how many plain 13-bit products of the BN254 base field a device computes a second, just
 * now. A wall time times this rate is a cost comparable with runs at other times, when a shared
 * machine was slower or faster.
 */
export interface ProductMeter {
  /** @returns products a second */
  measure(): Promise<number>;
  destroy(): void;
}

/**
 * Compiles the product, and checks it against BigInts.
 *
 * @param library product of the library to measure, at its best, instead of the unit
 * @param leastMs shortest duration of a dispatch
 * @throws Error `WRONG: …`
 */
export async function makeMeter(
  device: GPUDevice,
  software: boolean,
  library?: LibraryProduct,
  leastMs = 50,
): Promise<ProductMeter> {
  const [product, chains] =
    library === undefined ? [plainProduct, 1] : [libraryProduct(library.product), LIBRARY_CHAINS];
  const subject = fieldSubject(modulus(library?.p ?? bn254.p), product, chains, threadsFor(software));
  const { rate, destroy } = await makeRig(device, subject, leastMs);
  return { measure: rate, destroy };
}

/**
 * Opens a meter on a device of its own, so that no other measurement waits in its queue.
 *
 * @param onLost called when the device is lost, unless the meter was destroyed
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
 * Returns a function that gives the rate around each of several consecutive runs: called right
 * after a run, it returns the mean of the rates before and after it. Create it right before the
 * first run.
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
