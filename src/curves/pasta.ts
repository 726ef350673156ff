/**
 * Pallas and Vesta, both y² = x³ + 5. The base field of each is the scalar field of the other. The
 * cofactors are 1.
 *
 * Source: Hopwood, "The Pasta Curves for Halo 2 and Beyond",
 * https://electriccoin.co/blog/the-pasta-curves-for-halo-2-and-beyond/, and
 * https://github.com/zcash/pasta
 */
import type { Curve } from './curve.js';

const p = 0x40000000000000000000000000000000224698fc094cf91b992d30ed00000001n;
const q = 0x40000000000000000000000000000000224698fc0994a8dd8c46eb2100000001n;

/** Pallas, over F_p and of order q. */
export const pallas: Curve = {
  name: 'pallas',
  p,
  order: q,
  a: 0n,
  b: 5n,
  generator: { x: p - 1n, y: 2n },
  encodings: ['ark', 'ark-compressed'],
};

/** Vesta, over F_q and of order p. */
export const vesta: Curve = {
  name: 'vesta',
  p: q,
  order: p,
  a: 0n,
  b: 5n,
  generator: { x: q - 1n, y: 2n },
  encodings: ['ark', 'ark-compressed'],
};
