/**
 * webgpu-msm: multi-scalar multiplication on elliptic curves, on WebGPU and the CPU.
 *
 * @module
 */

export type {
  ComputeWorker,
  EngineEvent,
  EngineStats,
  LoadBasesOptions,
  LoadScalarsOptions,
  MsmBatchOptions,
  MsmOptions,
  Priority,
  Progress,
  QueueLimits,
  Sharing,
  TurnOptions,
} from './api/calls.js';
export type {
  AdapterDescription,
  Calibration,
  CalibrationStore,
  CalibrationTrial,
  CompileTime,
  MemoryUse,
  SelfTest,
  Tuning,
  TuningOptions,
} from './api/device.js';
export type { Bases, MsmEngine, MsmPlan, Scalars } from './api/engine.js';
export type { FieldVector } from './api/fields.js';
export type {
  CpuRun,
  DividedRun,
  GpuRun,
  HostTimes,
  PhaseTime,
  Prediction,
  RunFacts,
  RunRecord,
  TimelineEntry,
} from './api/run-record.js';
export type {
  AffinePoint,
  BytesLike,
  Coordinate,
  Fp2,
  PagedBytes,
  PointEncoding,
  ScalarEncoding,
  SpecialEncoding,
} from './api/values.js';
export type { Curve } from './curves/curve.js';
export type { Group, NamedCurve } from './curves/more-curves.js';
export { addPoints, type GroupOptions } from './engine/add-points.js';
export { createMsmEngine } from './engine/create-engine.js';
export type { MsmEngineOptions } from './engine/options.js';
export { MsmError, type MsmErrorCode } from './errors.js';
export { version } from './version.js';
