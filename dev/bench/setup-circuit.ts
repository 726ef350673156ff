/** Circuits for timing setups. */

import { bn254 } from '../../src/curves/bn254.js';
import { type Circuit, makeCircuit as make } from '../trial-keys/circuit.js';

/** Makes a circuit on BN254. */
export const makeCircuit = (constraints: number, kind: 'dense' | 'sparse'): Circuit =>
  make(bn254.order, constraints, kind);
