/**
 * webgpu-msm: multi-scalar multiplication on elliptic curves, on the GPU.
 *
 * @module
 */
export type {
  AdapterDescription,
  AffinePoint,
  Bases,
  BytesLike,
  Calibration,
  CalibrationTrial,
  CompileTime,
  ComputeWorker,
  Coordinate,
  EngineEvent,
  EngineStats,
  Fp2,
  HostWalls,
  LoadBasesOptions,
  LoadScalarsOptions,
  MemoryUse,
  MsmBatchOptions,
  MsmEngine,
  MsmOptions,
  MsmPlan,
  PagedBytes,
  PhaseTime,
  PointEncoding,
  Prediction,
  Priority,
  Progress,
  QueueLimits,
  RunRecord,
  ScalarEncoding,
  Scalars,
  SelfTest,
  Sharing,
  SpecialEncoding,
  StageChecks,
  TimelineEntry,
  Tuning,
  TurnOptions,
} from './api.js';
export type { Curve } from './curves/curve.js';
export type { Group, NamedCurve } from './curves/names.js';
export { createMsmEngine } from './engine/engine.js';
export type { MsmEngineOptions } from './engine/options.js';
export { MsmError, type MsmErrorCode } from './errors.js';
export { version } from './version.js';
