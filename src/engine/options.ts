import type { Calibration } from '../api/calibration.js';
import type { MsmEngine } from '../api/engine.js';
import type { ComputeWorker, EngineEvent, QueueLimits, Sharing } from '../api/sharing.js';
import type { Tuning } from '../api/tuning.js';
import type { Coordinate } from '../api/values.js';
import type { Curve } from '../curves/curve.js';
import type { NamedCurve } from '../curves/names.js';

/** Options of `createMsmEngine`. */
export interface MsmEngineOptions<Of extends Coordinate = bigint> {
  /** A name, or the constants of a curve of your own. */
  readonly curve: NamedCurve | Curve<Of>;
  /** Which group of a curve that is given by its name. Default `g1`; `g2` of the curves that have one. */
  readonly group?: Of extends bigint ? 'g1' : 'g2';
  /** A device of yours; it is used as it is and never destroyed. Default: the engine requests one. */
  readonly device?: GPUDevice;
  /**
   * What computes. `auto`, the default: for each call what is expected to be the fastest, the GPU, the CPU, or both at the same time; without WebGPU, the
   * CPU. `gpu`: the GPU, or `no-webgpu`. `cpu`: the CPU, though there may be a GPU. `both`: each call is divided between both; without WebGPU, the CPU.
   * `MsmEngine.backends` says what it came to.
   */
  readonly backend?: 'auto' | 'gpu' | 'cpu' | 'both';
  /**
   * The most workers that compute large sums on the CPU, beside the thread that the engine is in: 0 to 1024. None is started before a sum is worth it, and
   * those that have nothing to do end after ten seconds. Default: one less than the threads that run at a time here.
   */
  readonly maxWorkers?: number;
  /**
   * Starts a worker of yours that runs `webgpu-msm/worker`, where the one beside the package is not found: `() => new Worker(…, { type: 'module' })`, or
   * one of `node:worker_threads`. Where none can be started the engine computes in its own thread, and `onWarning` is told.
   */
  readonly createWorker?: () => ComputeWorker;
  /**
   * Another engine, whose device it is on: one for both, with one budget and one line of calls, for as long as either lives. When it is lost, both go on on
   * the next. Goes before `device`, `gpu` and `powerPreference`. Without effect where the other engine has no GPU.
   */
  readonly deviceOf?: MsmEngine<Coordinate>;
  /** WebGPU where there is no `navigator.gpu`: in Node, the object that Dawn's `create` returned. */
  readonly gpu?: GPU;
  /** Which adapter to request. Default `high-performance`. */
  readonly powerPreference?: 'low-power' | 'high-performance';
  /** The most bytes of scratch (not counting bases) that an MSM may hold; larger ones run in chunks. Default 256 MiB. */
  readonly memoryBudget?: number;
  /**
   * The most bytes that all engines on the device may hold together, bases and scalars with them; of several that say so, the least holds. What does not
   * fit waits until it does, or rejects with `out-of-memory` where it never will. Default: no limit.
   */
  readonly deviceBudget?: number;
  /** How calls share the device and the machine; see `Sharing`. */
  readonly sharing?: Sharing;
  /** What `calibrate` of `webgpu-msm/calibrate` found on this device, or on another of the same adapter: better defaults. */
  readonly calibration?: Calibration;
  /** Knobs to set by hand; see `Tuning`. They go before those of the calibration. */
  readonly tuning?: Partial<Tuning>;
  /**
   * Keep a copy of the points of `loadBases` in main memory, so that bases survive the loss of a device that the engine
   * requested itself. Default true; with false they must be loaded again after a loss (the error says so).
   */
  readonly retainBases?: boolean;
  /**
   * How often a call may be done again, from clean buffers, when the GPU is found not to have done what it was told. Default 1; the error
   * of the last attempt is what the call rejects with. See `RunRecord.retried`.
   */
  readonly retries?: number;
  /**
   * Whether results are verified: computed once more in another way, and compared; see docs/security.md. A number from 0 to 1 is the share of
   * the calls that are, drawn at random. It takes about as long again. Default false.
   */
  readonly verify?: boolean | number;
  /**
   * How many calls may wait for their turn, and with how many bytes of points and scalars: others are refused with `overloaded`, which says when to come
   * back (`MsmError.retryAfterMs`). Default: no limit.
   */
  readonly maxQueued?: QueueLimits;
  /** Told what happens to the engine's calls, for those who watch a service. What it throws is nobody's, and changes nothing. */
  readonly onEvent?: (event: EngineEvent) => void;
  /**
   * Told, once for each reason, that the engine computes more slowly than it could, and why: workers cannot be started (`RunRecord.noWorkers`). What it
   * throws changes nothing. Default: `console.warn`.
   */
  readonly onWarning?: (message: string) => void;
  /**
   * Whether the pipelines have to compute an MSM with a known answer before a result of theirs is believed, once on a device. Default true;
   * false where you know already, or count every dispatch. See `MsmEngine.selfTest`.
   */
  readonly selfTest?: boolean;
}

/** Options other than the curve and the other engine. */
export type OtherOptions = {
  readonly [Name in Exclude<keyof MsmEngineOptions, 'curve' | 'group' | 'deviceOf'>]?:
    | MsmEngineOptions[Name]
    | undefined;
};
