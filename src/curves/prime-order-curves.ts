/** Curves with the cofactor 1, besides BN254: cycles of two curves for proofs, and curves of signatures. */
import type { Curve, KnownCurve } from './curve.js';

/**
 * Grumpkin, y² = x³ − 17. Its base field is BN254's scalar field, and its scalar field BN254's base
 * field. The cofactor is 1.
 *
 * Source:
 * https://hackmd.io/@aztec-network/ByzgNxBfd#2-Grumpkin---A-curve-on-top-of-BN-254-for-SNARK-efficient-group-operations
 */
export const grumpkin: Curve = {
  name: 'grumpkin',
  p: 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001n,
  order: 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47n,
  a: 0n,
  b: 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593effffff0n,
  generator: { x: 1n, y: 0x2cf135e7506a45d632d270d45f1181294833fc48d823f272cn },
  encodings: ['ark', 'ark-compressed', 'gnark', 'gnark-compressed', 'aztec'],
};

const primeOfPallas = 0x40000000000000000000000000000000224698fc094cf91b992d30ed00000001n;
const primeOfVesta = 0x40000000000000000000000000000000224698fc0994a8dd8c46eb2100000001n;

/** Pallas, over F_p and of order q. */
export const pallas: Curve = {
  name: 'pallas',
  p: primeOfPallas,
  order: primeOfVesta,
  a: 0n,
  b: 5n,
  generator: { x: primeOfPallas - 1n, y: 2n },
  encodings: ['ark', 'ark-compressed'],
};

/** Vesta, over F_q and of order p. */
export const vesta: Curve = {
  name: 'vesta',
  p: primeOfVesta,
  order: primeOfPallas,
  a: 0n,
  b: 5n,
  generator: { x: primeOfVesta - 1n, y: 2n },
  encodings: ['ark', 'ark-compressed'],
};

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

const primeOfP256 = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;

/**
 * NIST P-256, also called secp256r1 and prime256v1, y² = x³ − 3·x + b. The cofactor is 1.
 *
 * Source: NIST SP 800-186, section 3.2.1.3, https://doi.org/10.6028/NIST.SP.800-186
 */
export const p256: KnownCurve = {
  name: 'p256',
  p: primeOfP256,
  order: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
  a: primeOfP256 - 3n,
  b: 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn,
  generator: {
    x: 0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
    y: 0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n,
  },
  encodings: ['ark', 'ark-compressed'],
  // arkworks; the least one is 7
  scalarGenerator: 11n,
};
