/**
 * webgpu-msm: multi-scalar multiplication on elliptic curves, on WebGPU and the CPU.
 *
 * @module
 */
export type { Calibration, CalibrationStore, CalibrationTrial } from './api/calibration.js';
export type {
  LoadBasesOptions,
  LoadScalarsOptions,
  MsmBatchOptions,
  MsmOptions,
  Priority,
  Progress,
  TurnOptions,
} from './api/calls.js';
export type { AdapterDescription, CompileTime, MemoryUse, SelfTest } from './api/device.js';
export type { MsmEngine, MsmPlan } from './api/engine.js';
export type { FieldVector } from './api/field-vectors.js';
export type { Bases, Scalars } from './api/handles.js';
export type { HostTimes, PhaseTime, Prediction, RunRecord, TimelineEntry } from './api/run-record.js';
export type { ComputeWorker, EngineEvent, EngineStats, QueueLimits, Sharing } from './api/sharing.js';
export type { Tuning, TuningOptions } from './api/tuning.js';
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
export type { Group, NamedCurve } from './curves/names.js';
export { createMsmEngine } from './engine/create-engine.js';
export type { MsmEngineOptions } from './engine/options.js';
export { MsmError, type MsmErrorCode } from './errors.js';
export { version } from './version.js';
