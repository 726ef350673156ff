/** Random scalars of a proof. */
import { bytesOf, SCALAR_BYTES } from './scalars.js';

/** Draws a scalar below the order, as little-endian bytes. */
export type DrawScalar = (order: bigint) => Uint8Array<ArrayBuffer>;

const isBelow = (bytes: Uint8Array, limit: Uint8Array): boolean => {
  for (let i = SCALAR_BYTES - 1; i >= 0; i--) {
    const [own, most] = [bytes[i] as number, limit[i] as number];
    if (own !== most) return own < most;
  }
  return false;
};

/** Draws uniformly by `crypto.getRandomValues`: numbers of r's length, until one is below r. */
export const drawRandomScalar: DrawScalar = (order) => {
  const limit = bytesOf(order);
  const excess = 8 * SCALAR_BYTES - order.toString(2).length;
  const bytes = new Uint8Array(SCALAR_BYTES);
  do {
    crypto.getRandomValues(bytes);
    bytes[SCALAR_BYTES - 1] = (bytes[SCALAR_BYTES - 1] as number) & (0xff >> excess);
  } while (!isBelow(bytes, limit));
  return bytes;
};
