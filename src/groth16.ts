/**
 * Whole Groth16 proofs from the keys and witnesses of snarkjs.
 *
 * @module
 */
export type { Groth16Proof, ProofResult, ProvingKey, ProvingKeyOptions } from './groth16/api.js';
export { exportSolidityCallData } from './groth16/api.js';
export { openProvingKey } from './groth16/open-proving-key.js';
export { MsmError } from './index.js';
export type * from './proofs/api.js';
