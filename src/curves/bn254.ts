import type { Curve } from './curve.js';

/**
 * BN254 G1, y² = x³ + 3. Other names are alt_bn128, BN128 (in snarkjs and Ethereum's precompiles)
 * and bn256. It is not the BN254 of Nogami et al. Its security is about 100 bits, not the 128 once
 * claimed (Kim and Barbulescu 2016). The cofactor is 1, so every point of the curve is in the
 * group.
 *
 * Source: EIP-196, https://eips.ethereum.org/EIPS/eip-196; p(u) and r(u) for u =
 * 4965661367192848881.
 */
export const bn254: Curve = {
  name: 'bn254',
  p: 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47n,
  order: 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001n,
  a: 0n,
  b: 3n,
  generator: { x: 1n, y: 2n },
  encodings: ['eip196', 'ark', 'ark-compressed', 'gnark', 'gnark-compressed', 'aztec', 'aztec-compressed'],
};
