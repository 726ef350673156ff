/**
 * Whole PLONK proofs from the keys and witnesses of snarkjs.
 *
 * @module
 */
export type { FileSource, RandomAccess } from './formats/source.js';
export { MsmError } from './index.js';
export type { PlonkProof, ProofPoint, ProofResult, ProvingKey, ProvingKeyOptions } from './plonk/api.js';
export { exportSolidityCallData } from './plonk/api.js';
export { openProvingKey } from './plonk/open-proving-key.js';
export type {
  CircuitFacts,
  CircuitKey,
  EngineOptions,
  InAnyForm,
  KeyMemory,
  NamedProof,
  ProofInput,
  ProofNumber,
  ProofProgress,
  ProveOptions,
  VerifyOptions,
} from './proofs/api.js';
