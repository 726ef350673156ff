/** The interface of the GPU and the CPU to the engine. */
import type { AdapterDescription, CompileTime, MemoryUse, SelfTest } from '../api/device.js';
import type { RunRecord } from '../api/run-record.js';
import type { AffinePoint, Coordinate } from '../api/values.js';
import type { PointSource } from '../curves/point-source.js';
import type { Call } from '../scheduling/call.js';
import type { Ticket } from '../scheduling/edf.js';
import type { LoadedBases } from './inputs/loaded-bases.js';
import type { ScalarStore, ScalarVector, SurveyedScalars } from './inputs/scalars.js';
import type { PlanLimits } from './plan/planner.js';
import type { Knobs } from './plan/tuning.js';
import type { TableShape } from './plan/workload.js';

/** Points to load. */
export interface LoadRequest {
  readonly source: PointSource;
  readonly tables: TableShape;
  readonly label: string;
  /** True to refuse points outside the group of order r. */
  readonly checkSubgroup: boolean;
  /** True for points that were checked before: the CPU does not check them again. */
  readonly areChecked: boolean;
}

/** The most scratch and submits of a multiplication. */
export interface Footprint {
  readonly bytes: number;
  readonly submits: number;
}

/** Loads bases and multiplies, on the GPU or on the CPU. */
export interface Backend {
  readonly kind: 'gpu' | 'cpu';
  readonly adapter: AdapterDescription;
  readonly memory: MemoryUse;
  readonly pipelines: readonly CompileTime[];
  readonly selfTest: SelfTest | null;
  /** Number of scratch buffers that were freed. */
  readonly frees: number;
  /** @throws MsmError `device-lost` if no later call can succeed */
  assertUsable(): void;
  load(request: LoadRequest, call: Call): Promise<LoadedBases>;
  /** Uploads scalars, for calls to use there. */
  place(store: ScalarStore, call: Call): Promise<void>;
  /** Counts what plans depend on in scalars; loaded scalars are read once. */
  survey(bases: LoadedBases, vectors: readonly ScalarVector[]): SurveyedScalars[];
  multiply(request: MsmRequest, call: Call): Promise<MsmDone>;
  /** Returns the footprint of vectors. @param lengths lengths of the vectors, none 0 */
  footprint(bases: LoadedBases, lengths: readonly number[]): Footprint;
  /** Compiles and tests the kernels for a multiplication of n scalars. */
  warmUp(n: number, call: Call): Promise<void>;
  trim(): Promise<void>;
  destroy(): void;
}

/** A backend that compiles before its first call, and whose device other engines may share. */
export interface Accelerator extends Backend {
  readonly limits: PlanLimits;
  readonly tuning: Knobs;
  /** False after it stopped answering for good. */
  readonly isAvailable: boolean;
  /** True after a call or a warm-up: the next call has nothing to compile. */
  readonly isReady: boolean;
  /**
   * Returns true if the vectors of field engines among these are on its device, and it can multiply
   * them there. Tests their conversion first.
   *
   * @throws MsmError `aborted`, `destroyed`, `internal`
   */
  prepareVectors(sums: Sums, call: Call): Promise<boolean>;
  /** Returns true if it has work of equal or higher priority for calls other than `own`. */
  isBusyBeside(own: Ticket | undefined): boolean;
}

/* Sums, the request for them to a backend, and its result. */

/** Vectors of scalars over the same bases. */
export interface Sums {
  readonly bases: LoadedBases;
  readonly vectors: readonly ScalarVector[];
  /** Number of scalars of all vectors, zeros included. */
  readonly n: number;
  /** Probability that the result is verified; undefined: the engine's default. */
  readonly verify: number | undefined;
}

/** Sums as a backend computes them. */
export interface MsmRequest extends Sums {
  /** The surveys of the vectors, in the same order. */
  readonly surveyed: readonly SurveyedScalars[];
  /** Returns how many CPU workers may compute now; absent: all. */
  readonly workersAllowed?: (() => number) | undefined;
}

/** The sums of a request, one for each vector. */
export interface MsmDone {
  readonly sums: readonly AffinePoint<Coordinate>[];
  readonly record: RunRecord;
  /** Time that it took, in ms, without waiting for other calls. */
  readonly ms: number;
}
