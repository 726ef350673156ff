/** Options of an engine and of its calls: their meaning, their tables, and the settings they make. */

import type {
  ComputeWorker,
  EngineEvent,
  LoadBasesOptions,
  LoadScalarsOptions,
  MsmBatchOptions,
  MsmOptions,
  Priority,
  Progress,
  QueueLimits,
  Sharing,
  TurnOptions,
} from '../api/calls.js';
import type { Calibration, CalibrationStore, TuningOptions } from '../api/device.js';
import type { MsmEngine } from '../api/engine.js';
import type { Coordinate, PointEncoding, ScalarEncoding } from '../api/values.js';
import type { Curve } from '../curves/curve.js';
import type { NamedCurve } from '../curves/more-curves.js';
import { describeAdapter } from '../gpu/device.js';
import { Runner } from '../gpu/runner.js';
import type { WorkerOptions } from '../msm/cpu/cpu-threads.js';
import { defaultBudget } from '../msm/plan/device-profiles.js';
import { type Knobs, noKnobs, tuningOptions } from '../msm/plan/tuning.js';
import type { Instrument } from '../msm/stages/kernels.js';
import { bare, type OptionTable, type ReadOptions, readOptions, setOptions } from '../option-table.js';
import { CallQueue } from '../scheduling/call-queue.js';
import { threadsHere } from '../threads/platform.js';
import type { FirstUse, FirstUseOptions } from './first-use.js';

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
   * workers that cannot be started (`CpuRun.noWorkers`). Its errors are ignored.
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

const { POSITIVE_INFINITY: NO_LIMIT } = Number;

/** `sharing`. */
const sharingOptions = {
  of: 'sharing',
  rows: {
    overlap: { kind: 'flag', default: true },
    merge: { kind: 'flag', default: true },
    keep: { kind: 'flag', default: true },
    sidePool: { kind: 'integer', range: [0, NO_LIMIT] },
    throttle: { kind: 'flag', default: false },
    yieldWhile: { kind: 'function' },
  },
} as const satisfies OptionTable<Sharing>;

/** `maxQueued`. */
const queueLimitOptions = {
  of: 'maxQueued',
  rows: {
    calls: { kind: 'number', range: [0, NO_LIMIT], default: NO_LIMIT },
    bytes: { kind: 'number', range: [0, NO_LIMIT], default: NO_LIMIT },
  },
} as const satisfies OptionTable<QueueLimits>;

/** `calibration`, of which an engine uses the knobs. */
const calibrationOptions = {
  of: 'calibration',
  rows: {
    tuning: { kind: 'group', table: tuningOptions, isRequired: true },
    trials: { kind: 'any' },
    curve: { kind: 'any' },
    adapter: { kind: 'any' },
    version: { kind: 'any' },
    remembered: { kind: 'any' },
    tookMs: { kind: 'any' },
    compileMs: { kind: 'any' },
  },
} as const satisfies OptionTable<Calibration>;

/** `createMsmEngine`. */
export const engineOptions = {
  of: 'createMsmEngine',
  rows: {
    curve: { kind: 'any' },
    group: { kind: 'any' },
    device: { kind: 'any' },
    backend: { kind: 'choice', range: ['auto', 'gpu', 'cpu', 'both'], default: 'auto' },
    maxWorkers: { kind: 'integer', range: [0, 1024] },
    createWorker: { kind: 'function', says: 'a function that returns a worker' },
    deviceOf: { kind: 'any' },
    gpu: { kind: 'any' },
    powerPreference: { kind: 'choice', range: ['high-performance', 'low-power'], default: 'high-performance' },
    memoryBudget: { kind: 'integer', range: [1, NO_LIMIT], says: 'a positive integer of bytes' },
    deviceBudget: {
      kind: 'number',
      range: [Number.MIN_VALUE, NO_LIMIT],
      default: NO_LIMIT,
      says: 'a positive number of bytes',
    },
    sharing: {
      kind: 'group',
      table: sharingOptions,
      default: {},
      says: '{ overlap, merge, keep, sidePool, throttle, yieldWhile }',
    },
    calibration: { kind: 'group', table: calibrationOptions, says: 'what calibrate returned' },
    calibrate: { kind: 'choice', range: ['first-use'] },
    calibrationStore: { kind: 'store', isNullable: true },
    tuning: { kind: 'group', table: tuningOptions, default: {} },
    retainBases: { kind: 'flag', default: true },
    retries: { kind: 'integer', range: [0, NO_LIMIT], default: 1 },
    verify: { kind: 'share', default: false },
    maxQueued: { kind: 'group', table: queueLimitOptions, default: {}, says: '{ calls, bytes }' },
    onEvent: { kind: 'function' },
    onWarning: { kind: 'function' },
    selfTest: { kind: 'flag', default: true },
  },
} as const satisfies OptionTable<MsmEngineOptions<Coordinate>>;

/** Options of an engine, checked and with their defaults. */
type ReadEngineOptions = ReadOptions<MsmEngineOptions<Coordinate>, typeof engineOptions.rows>;

/**
 * Copies the options of an engine: later changes of the caller's objects have no effect.
 *
 * @throws MsmError `bad-argument` that names the option
 */
export const readEngineOptions = (options: MsmEngineOptions<Coordinate>): ReadEngineOptions =>
  readOptions(engineOptions, options, bare);

/** `Sharing` with its defaults. */
type SharingSettings = ReadEngineOptions['sharing'] & { readonly sidePool: number };

/** How an engine computes, by its options. */
export interface Settings extends Pick<ReadEngineOptions, 'backend' | 'retainBases' | 'retries' | 'verify'> {
  readonly selfTests: boolean;
  readonly tuning: Knobs;
  readonly workers: WorkerOptions;
  /**
   * Makes the runner of a device. @param afterLoss advice of the error after a loss of the device
   */
  runnerFor(device: GPUDevice, afterLoss: string): Runner;
  readonly sharing: SharingSettings;
  /** null if nothing is to be measured. */
  readonly firstUse: FirstUseOptions | null;
  /** Makes the queue of an engine. @param width number of active calls */
  queueOf(width: number, firstUse?: FirstUse | null): CallQueue;
}

/** Options of an engine, with the calibration that is used. */
type SettingsOptions = Omit<ReadEngineOptions, 'calibration'> & {
  readonly calibration: { readonly tuning: TuningOptions } | undefined;
};

/** Returns the knobs of `tuning`, which has precedence, and of `calibration`. */
const knobsOf = ({ backend, tuning, calibration }: SettingsOptions, instrument: Instrument | undefined): Knobs => {
  const set = { ...noKnobs, ...setOptions(calibration?.tuning ?? {}), ...setOptions(tuning) };
  // every knob is an own property, so that copies of this object inherit none
  return Object.freeze({
    ...set,
    ...(backend === 'gpu' && set.cpuBelow === undefined && { cpuBelow: 0 }),
    instrument,
  }) as Knobs;
};

/** Returns how an engine computes. */
export const settingsOf = (options: SettingsOptions, instrument?: Instrument): Settings => {
  const { backend, retainBases, retries, verify, selfTest: selfTests, memoryBudget, deviceBudget, onEvent } = options;
  const { maxWorkers, createWorker, onWarning, maxQueued, calibrate, calibration, calibrationStore } = options;
  const { sidePool = Math.ceil(threadsHere() / 4), ...ways } = options.sharing;
  const sharing = { ...ways, sidePool };
  return {
    ...{ backend, retainBases, retries, verify, selfTests, sharing },
    tuning: knobsOf(options, instrument),
    workers: { maxWorkers, createWorker, onWarning },
    firstUse: calibrate === undefined || calibration !== undefined ? null : { store: calibrationStore },
    queueOf: (width, firstUse = null) => {
      const follow = (event: EngineEvent): unknown => {
        firstUse?.note(event);
        return onEvent?.(event);
      };
      return new CallQueue(maxQueued, firstUse === null ? onEvent : follow, sharing.overlap ? width : 1);
    },
    runnerFor: (device, afterLoss) =>
      new Runner(device, memoryBudget ?? defaultBudget(describeAdapter(device.adapterInfo)), {
        ...{ afterLoss, deviceBudget },
        keeps: sharing.keep,
      }),
  };
};

const priorities = ['interactive', 'normal', 'background'] as const satisfies readonly Priority[];
const scalarEncodings = ['le', 'be', 'le-montgomery'] as const satisfies readonly ScalarEncoding[];

/** Options that decide when a call has its turn. */
export const turnRows = {
  priority: { kind: 'choice', range: priorities, default: 'normal' },
  deadline: { kind: 'number', range: [0, Number.POSITIVE_INFINITY], says: 'a number of milliseconds from 0' },
} as const satisfies OptionTable<TurnOptions>['rows'];

/** The option of calls that can be aborted. */
export const signalRow = { kind: 'signal' } as const;

/** The option of calls that report progress. */
export const progressRow = { kind: 'function' } as const;

/** Number of tables of a base at most. */
const MOST_TABLES = 64;

/** `engine.loadBases`. */
export const loadBasesOptions = {
  of: 'loadBases',
  rows: {
    ...turnRows,
    label: { kind: 'text', default: 'bases' },
    precompute: { kind: 'integer', range: [1, MOST_TABLES], default: 1 },
    // checked further with the curve, which not every encoding is for
    encoding: { kind: 'text' },
    checkSubgroup: { kind: 'flag', default: false },
    signal: signalRow,
    onProgress: progressRow,
  },
} as const satisfies OptionTable<LoadBasesOptions>;

/** `engine.loadScalars`. */
export const loadScalarsOptions = {
  of: 'loadScalars',
  rows: {
    ...turnRows,
    label: { kind: 'text', default: 'scalars' },
    scalarEncoding: { kind: 'choice', range: scalarEncodings },
    signal: signalRow,
  },
} as const satisfies OptionTable<LoadScalarsOptions>;

const sumRows = {
  ...turnRows,
  scalarEncoding: { kind: 'choice', range: scalarEncodings },
  // checked with the curve, which not every encoding is for
  result: { kind: 'any', default: 'affine' },
  verify: { kind: 'share' },
  signal: signalRow,
  onProgress: progressRow,
} as const;

/** `engine.msm`; the offset is checked with the bases. */
export const msmOptions = {
  of: 'msm',
  rows: { ...sumRows, offset: { kind: 'any' } },
} as const satisfies OptionTable<MsmOptions<'affine' | PointEncoding>>;

/** `engine.msmBatch`; the offsets are checked with the bases. */
export const msmBatchOptions = {
  of: 'msmBatch',
  rows: { ...sumRows, offsets: { kind: 'any' } },
} as const satisfies OptionTable<MsmBatchOptions<'affine' | PointEncoding>>;

/** Options of a call that decide when it runs and what it reports. */
export interface CallSettings {
  readonly priority: Priority;
  readonly deadline?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** Options of a call that computes sums. */
export interface SumSettings extends CallSettings {
  readonly scalarEncoding: ScalarEncoding | undefined;
  readonly result: 'affine' | PointEncoding;
  readonly verify: number | undefined;
}
