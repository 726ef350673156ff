/** Backends: places that multiply. The GPU is one, the CPU is one; callers do not tell them apart. */
import type { AdapterDescription, CompileTime, MemoryUse, SelfTest } from '../api/device.js';
import type { PointSource } from '../curves/point-source.js';
import type { Ticket } from '../scheduling/ticket.js';
import type { CallContext } from '../session/call-context.js';
import type { LoadedBases } from './inputs/loaded-bases.js';
import type { ScalarStore } from './inputs/scalar-store.js';
import type { ScalarVector, SurveyedScalars } from './inputs/scalar-vectors.js';
import type { PlanLimits } from './plan/planner.js';
import type { Knobs } from './plan/tuning.js';
import type { TableShape } from './plan/workload.js';
import type { MsmDone, MsmRequest } from './request.js';

/** Points to load. */
export interface LoadRequest {
  readonly source: PointSource;
  readonly tables: TableShape;
  readonly label: string;
  /** True to refuse points outside the group of order r. */
  readonly checkSubgroup: boolean;
}

/** Scratch and submits that a multiplication takes at most. */
export interface Footprint {
  readonly bytes: number;
  readonly submits: number;
}

/** A place that loads bases and multiplies. */
export interface Backend {
  readonly kind: 'gpu' | 'cpu';
  readonly adapter: AdapterDescription;
  readonly memory: MemoryUse;
  readonly pipelines: readonly CompileTime[];
  readonly selfTest: SelfTest | null;
  /** Largest buffer that it can have, in bytes. */
  readonly maxBufferSize: number;
  /** Scratch buffers that were freed. */
  readonly frees: number;
  /** @throws MsmError `device-lost` where it can never multiply again */
  assertUsable(): void;
  /** @throws MsmError `bad-argument` where bases of so many points cannot be had */
  assertFits(points: number, tables: TableShape): void;
  load(request: LoadRequest, call: CallContext): Promise<LoadedBases>;
  /** Brings scalars to where its calls find them. */
  place(store: ScalarStore, call: CallContext): Promise<void>;
  /** Looks at scalars, to plan by them; at loaded ones once. */
  survey(bases: LoadedBases, vectors: readonly ScalarVector[]): SurveyedScalars[];
  multiply(request: MsmRequest, call: CallContext): Promise<MsmDone>;
  /** Returns what vectors of such lengths take, none of which is 0. */
  footprint(bases: LoadedBases, lengths: readonly number[]): Footprint;
  /** Compiles and tests what a multiplication of n scalars needs. */
  warmUp(n: number, call: CallContext): Promise<void>;
  trim(): Promise<void>;
  destroy(): void;
}

/** A backend that has to be made ready, and that other engines may share. */
export interface Accelerator extends Backend {
  readonly limits: PlanLimits;
  readonly tuning: Knobs;
  /** False once it stopped answering for good. */
  readonly isAvailable: boolean;
  /** True when nothing is left to compile for the next call. */
  readonly isReady: boolean;
  /** Returns true if it has work of equal or higher priority for other calls than `own`. */
  isBusyBeside(own: Ticket | undefined): boolean;
}
