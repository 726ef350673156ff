/**
 * Acceleration of snarkjs: its proofs and MSMs computed by this library.
 *
 * @module
 */
export type { FflonkProof, ProofEvaluations, ProofPolynomials } from './fflonk.js';
export type { Groth16Proof } from './groth16.js';
export type { Group, MsmEngineOptions, NamedCurve } from './index.js';
export type { PlonkProof } from './plonk.js';
export type {
  AcceleratedProver,
  AcceleratedProvers,
  AcceleratedResult,
  SnarkjsProveOptions,
} from './provers/accelerate.js';
export { type Accelerate, type Accelerated, accelerate, type Restore } from './provers/accelerate.js';
export type { AccelerateOptions, AccelerateStats } from './provers/accelerate-options.js';
export type { Snarkjs } from './provers/ffjavascript.js';
export type { SnarkjsFile, SnarkjsFileObject } from './provers/proof-files.js';
export type {
  AcceleratedPowersOfTau,
  AcceleratedSetups,
  AcceleratedZKey,
  SnarkjsTarget,
} from './provers/setups.js';
