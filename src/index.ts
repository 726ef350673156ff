/**
 * webgpu-msm: multi-scalar multiplication on elliptic curves, on the GPU.
 *
 * @module
 */
export type {
  AdapterDescription,
  AffinePoint,
  Bases,
  LoadBasesOptions,
  MemoryUse,
  MsmEngine,
  MsmOptions,
  PhaseTime,
  Progress,
  RunRecord,
} from './api.js';
export type { Curve } from './curves/curve.js';
export type { NamedCurve } from './curves/named.js';
export { createMsmEngine, type MsmEngineOptions } from './engine.js';
export { MsmError, type MsmErrorCode } from './errors.js';
export type { Tuning } from './tuning.js';
