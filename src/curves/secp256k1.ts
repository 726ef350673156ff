import type { KnownCurve } from './curve.js';

/**
 * secp256k1, y² = x³ + 7, the curve of Bitcoin's and Ethereum's accounts. The cofactor is 1.
 *
 * Source: SEC 2: Recommended Elliptic Curve Domain Parameters, version 2.0, section 2.4.1,
 * https://www.secg.org/sec2-v2.pdf
 */
export const secp256k1: KnownCurve = {
  name: 'secp256k1',
  p: 0xfffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2fn,
  order: 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n,
  a: 0n,
  b: 7n,
  generator: {
    x: 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n,
    y: 0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n,
  },
  encodings: ['ark', 'ark-compressed', 'aztec'],
  // arkworks; the least one is 5
  scalarGenerator: 7n,
};
