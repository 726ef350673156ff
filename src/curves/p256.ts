import type { KnownCurve } from './curve.js';

const p = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;

/**
 * NIST P-256, also called secp256r1 and prime256v1, y² = x³ − 3·x + b. The cofactor is 1.
 *
 * Source: NIST SP 800-186, section 3.2.1.3, https://doi.org/10.6028/NIST.SP.800-186
 */
export const p256: KnownCurve = {
  name: 'p256',
  p,
  order: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
  a: p - 3n,
  b: 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn,
  generator: {
    x: 0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
    y: 0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n,
  },
  encodings: ['ark', 'ark-compressed'],
  // arkworks; the least one is 7
  scalarGenerator: 11n,
};
