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
  ProvingKeyOptions,
} from './fflonk/api.js';
export { exportSolidityCallData } from './fflonk/api.js';
export { openProvingKey } from './fflonk/open-proving-key.js';
export type { FileSource, RandomAccess } from './formats/source.js';
export { MsmError } from './index.js';
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
