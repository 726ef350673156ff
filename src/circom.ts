/**
 * Proofs from the inputs of circuits that circom compiled.
 *
 * @module
 */
export type {
  CheckOptions,
  Circuit,
  CircuitFile,
  CircuitFiles,
  CircuitInput,
  CircuitKeyFacts,
  CircuitOptions,
  CircuitProgress,
  CircuitProof,
  CircuitProveOptions,
  CircuitResult,
  ConstraintSum,
  ConstraintTerm,
  OpenCircuitFacts,
  ProofTimings,
  SignalValue,
  UnsatisfiedConstraint,
  WitnessOptions,
} from './circom/api.js';
export { openCircuit } from './circom/open-circuit.js';
export { MsmError } from './index.js';
export type {
  ByteStream,
  FileOrigin,
  FileSource,
  ProofInput,
  ProofNumber,
  RandomAccess,
  VerifyOptions,
} from './proofs/api.js';
