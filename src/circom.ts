/**
 * Proofs from the inputs of circuits that circom compiled.
 *
 * @module
 */
export type {
  Circuit,
  CircuitFile,
  CircuitFiles,
  CircuitInput,
  CircuitOptions,
  CircuitProgress,
  CircuitProof,
  CircuitProveOptions,
  CircuitResult,
  OpenCircuitFacts,
  ProofTimings,
  SignalValue,
  WitnessOptions,
} from './circom/api.js';
export { openCircuit } from './circom/open-circuit.js';
export { MsmError } from './index.js';
export type { FileSource, ProofInput, ProofNumber, RandomAccess, VerifyOptions } from './proofs/api.js';
