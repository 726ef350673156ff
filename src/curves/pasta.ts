/**
 * Pallas and Vesta, both y² = x³ + 5, each over the field of the other's scalars. The cofactors are 1.
 *
 * Source: Hopwood, "The Pasta Curves for Halo 2 and Beyond", https://electriccoin.co/blog/the-pasta-curves-for-halo-2-and-beyond/, and
 * https://github.com/zcash/pasta
 */
import type { Curve } from './curve.js';

const p = 0x40000000000000000000000000000000224698fc094cf91b992d30ed00000001n;
const q = 0x40000000000000000000000000000000224698fc0994a8dd8c46eb2100000001n;

/** Over F_p, of order q. */
export const pallas: Curve = {
  name: 'pallas',
  p,
  order: q,
  a: 0n,
  b: 5n,
  generator: { x: p - 1n, y: 2n },
  encodings: ['ark', 'ark-compressed'],
};

/** Over F_q, of order p. */
export const vesta: Curve = {
  name: 'vesta',
  p: q,
  order: p,
  a: 0n,
  b: 5n,
  generator: { x: q - 1n, y: 2n },
  encodings: ['ark', 'ark-compressed'],
};
