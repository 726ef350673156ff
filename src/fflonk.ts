/**
 * Whole FFLONK proofs from the keys and witnesses of snarkjs.
 *
 * @module
 */
export type {
  FflonkProof,
  ProofEvaluations,
  ProofPoint,
  ProofPolynomials,
  ProofResult,
  ProvingKey,
} from './fflonk/api.js';
export { exportSolidityCallData } from './fflonk/api.js';
export { openProvingKey } from './fflonk/open-proving-key.js';
export { MsmError } from './index.js';
export type * from './proofs/api.js';
