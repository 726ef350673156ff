/**
 * The interface of snarkjs for programs that import it: proofs, witnesses and verification by this
 * library, and nothing of snarkjs.
 *
 * @module
 */
export type { FflonkProof, ProofEvaluations, ProofPolynomials } from './fflonk.js';
export type { Groth16Proof } from './groth16.js';
export { MsmError } from './index.js';
export type { PlonkProof, ProofPoint } from './plonk.js';
export type { ProofInput, ProofNumber } from './proofs/api.js';
export type { AcceleratedResult, SnarkjsProveOptions } from './provers/accelerate.js';
export type {
  DropInOptions,
  MissingFunction,
  SnarkjsCurves,
  SnarkjsFflonk,
  SnarkjsGroth16,
  SnarkjsPlonk,
  SnarkjsPowersOfTau,
  SnarkjsProver,
  SnarkjsR1cs,
  SnarkjsWtns,
  SnarkjsZKey,
} from './provers/drop-in.js';
export { configure, curves, fflonk, groth16, plonk, powersOfTau, r1cs, wtns, zKey } from './provers/drop-in.js';
export type { SnarkjsFile, SnarkjsFileObject } from './provers/proof-files.js';
