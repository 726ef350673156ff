import type { CurveContext } from '../curves/curve.js';
import type { Backend } from '../msm/backend.js';
import type { Dispatcher } from '../msm/routing/router.js';
import type { CallQueue } from '../scheduling/call-queue.js';
import type { FirstUse } from './first-use.js';

/** Parts that an engine is composed of. */
export interface EngineParts {
  readonly curve: CurveContext;
  readonly queue: CallQueue;
  /** The calibration of the engine, if one was asked for. */
  readonly firstUse: FirstUse | null;
  /** The backend that has the bases: the GPU where there is one. */
  readonly backend: Backend;
  readonly dispatcher: Dispatcher;
  /** Returns the backends that may compute. */
  backends(): readonly ('gpu' | 'cpu')[];
  /** Prepares the CPU's code; null where the CPU computes nothing. */
  readonly warmUpCpu: (() => Promise<void>) | null;
  /** True to compute small sums over the same bases together. */
  readonly coalesces: boolean;
  /** Frees the CPU's memory for later calls, and ends its workers. */
  trimCpu(): Promise<void>;
  destroyCpu(): void;
}
