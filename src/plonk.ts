/**
 * Whole PLONK proofs from the keys and witnesses of snarkjs.
 *
 * @module
 */
export { MsmError } from './index.js';
export type { PlonkProof, ProofPoint, ProofResult, ProvingKey } from './plonk/api.js';
export { exportSolidityCallData } from './plonk/api.js';
export { openProvingKey } from './plonk/open-proving-key.js';
export type * from './proofs/api.js';
