import type { Calibration, CalibrationStore } from '../api/calibration.js';
import type { MsmEngine } from '../api/engine.js';
import type { ComputeWorker, EngineEvent, QueueLimits, Sharing } from '../api/sharing.js';
import type { TuningOptions } from '../api/tuning.js';
import type { Coordinate } from '../api/values.js';
import type { Curve } from '../curves/curve.js';
import type { NamedCurve } from '../curves/names.js';

/** Options of `createMsmEngine`. */
export interface MsmEngineOptions<Of extends Coordinate = bigint> {
  /** Name of a curve (docs/reference/curves.md), or the constants of another curve. */
  readonly curve: NamedCurve | Curve<Of>;
  /**
   * Group of a curve given by its name; `g2` for curves that have one.
   *
   * @defaultValue `g1`
   */
  readonly group?: (Of extends bigint ? 'g1' : 'g2') | undefined;
  /**
   * Device of the caller; it is used as it is and never destroyed.
   *
   * @defaultValue the engine requests a device
   */
  readonly device?: GPUDevice | undefined;
  /**
   * Backend that computes. `auto`: the one that is expected to be the fastest for each call: the
   * GPU, the CPU, or both at the same time; without WebGPU, or where the only adapter is software,
   * the CPU, unless `tuning.cpuBelow` is set. `gpu`: the GPU; without WebGPU an error `no-webgpu`. `cpu`: the CPU, even if there is a GPU. `both`: GPU and CPU share each
   * call; without WebGPU, the CPU. `MsmEngine.backends` has the outcome.
   *
   * @defaultValue `auto`
   */
  readonly backend?: 'auto' | 'gpu' | 'cpu' | 'both' | undefined;
  /**
   * Limit on the workers that compute large sums on the CPU, in addition to the thread of the
   * engine: 0 to 1024. The first load or sum that is large enough starts them; idle workers end
   * after ten seconds. The engine measures what workers bring and uses fewer, or none, where more
   * make sums slower.
   *
   * @defaultValue one less than the platform's hardware threads
   */
  readonly maxWorkers?: number | undefined;
  /**
   * Starts a worker that runs `webgpu-msm/worker`, for bundlers and servers that do not find the
   * file beside the package: `() => new Worker(…, { type: 'module' })`, or one of
   * `node:worker_threads`. If no worker can be started, the engine computes in its own thread and
   * calls `onWarning`.
   *
   * @defaultValue starts the package's own worker
   */
  readonly createWorker?: (() => ComputeWorker) | undefined;
  /**
   * Another engine, whose device this engine uses: both share one device, one budget and one queue,
   * for as long as either lives. When the device is lost, both continue on the next one. It has
   * precedence over `device`, `gpu` and `powerPreference`. It has no effect if the other engine has
   * no GPU.
   *
   * @defaultValue none: a device and a queue of its own
   */
  readonly deviceOf?: MsmEngine<Coordinate> | undefined;
  /**
   * WebGPU for platforms without `navigator.gpu`: in Node, the object that Dawn's `create`
   * returned.
   *
   * @defaultValue `navigator.gpu`
   */
  readonly gpu?: GPU | undefined;
  /**
   * Kind of adapter to request.
   *
   * @defaultValue `high-performance`
   */
  readonly powerPreference?: 'low-power' | 'high-performance' | undefined;
  /**
   * Limit on the scratch of the engine in bytes, without bases; larger MSMs run in chunks.
   *
   * @defaultValue 256 MiB; 512 MiB on NVIDIA and AMD
   */
  readonly memoryBudget?: number | undefined;
  /**
   * Limit on the GPU memory of all engines on the device together in bytes, with bases and scalars.
   * If several engines set a limit, the lowest one holds. A call waits until its memory fits, or
   * rejects with `out-of-memory` if it never will.
   *
   * @defaultValue no limit
   */
  readonly deviceBudget?: number | undefined;
  /**
   * Settings for how calls share the device and the machine; see `Sharing`.
   *
   * @defaultValue the defaults of `Sharing`
   */
  readonly sharing?: Sharing | undefined;
  /**
   * Result of `calibrate` of `webgpu-msm/calibrate` on this device, or on another of the same
   * adapter: better defaults.
   */
  readonly calibration?: Calibration | undefined;
  /**
   * `first-use`: finds better defaults by itself. The engine uses the calibration that is
   * remembered for its adapter and curve. If there is none, the first engine of the adapter and
   * curve measures one as `calibrate` does, once it has computed a sum on the GPU and no call came
   * for a second. A call ends the measurement, which begins again later. Engines that are created
   * afterwards use the result; no engine changes its knobs. `EngineStats.calibration` has the
   * state. It has no effect on software adapters, whose defaults were measured, and if
   * `calibration` is given.
   *
   * @defaultValue nothing is measured
   */
  readonly calibrate?: 'first-use' | undefined;
  /**
   * The store of `calibrate: 'first-use'`, as of `CalibrateOptions.store`; null: only this page, or
   * this program, remembers. In Node pass `fileStore(path)` of `webgpu-msm/node`.
   *
   * @defaultValue IndexedDB in browsers; in Node none
   */
  readonly calibrationStore?: CalibrationStore | null | undefined;
  /**
   * Knobs to set by hand; see `Tuning`. They have precedence over those of the calibration.
   *
   * @defaultValue chosen by n and the device
   */
  readonly tuning?: TuningOptions | undefined;
  /**
   * Keeps a copy of the points of `loadBases` in main memory, so that bases survive the loss of a
   * device that the engine requested itself. With false they must be loaded again after a loss, as
   * the error says.
   *
   * @defaultValue `true`
   */
  readonly retainBases?: boolean | undefined;
  /**
   * Number of times that a call is repeated, with clean buffers, after the GPU did not execute its
   * commands correctly. The call rejects with the error of the last attempt. See
   * `RunRecord.retried`.
   *
   * @defaultValue `1`
   */
  readonly retries?: number | undefined;
  /**
   * Verifies results of the GPU by a second, randomly weighted MSM; see
   * docs/explanation/correctness.md. A number from 0 to 1 is the probability that a call is
   * verified. A verification takes about as long as the call.
   *
   * @defaultValue `false`
   */
  readonly verify?: boolean | number | undefined;
  /**
   * Limit on the calls that wait for their turn, and on their bytes of points and scalars. Further
   * calls are refused with `overloaded`; `MsmError.retryAfterMs` says when to call again.
   *
   * @defaultValue no limit
   */
  readonly maxQueued?: QueueLimits | undefined;
  /** Receives the events of the engine's calls, to monitor a service. Its errors are ignored. */
  readonly onEvent?: ((event: EngineEvent) => void) | undefined;
  /**
   * Called once for each reason for which the engine computes more slowly than it could, such as
   * workers that cannot be started (`RunRecord.noWorkers`). Its errors are ignored.
   *
   * @defaultValue `console.warn`
   */
  readonly onWarning?: ((message: string) => void) | undefined;
  /**
   * Runs a self-test once on each device: the pipelines compute an MSM with a known answer before a
   * result of theirs is used. Set false if the device is known to be correct, or to count every
   * dispatch. See `MsmEngine.selfTest`.
   *
   * @defaultValue `true`
   */
  readonly selfTest?: boolean | undefined;
}
