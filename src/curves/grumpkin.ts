import type { Curve } from './curve.js';

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
