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
import type { TuningOptions } from '../api/device.js';
import type { MsmEngine } from '../api/engine.js';
import type { Coordinate, PointEncoding, ScalarEncoding } from '../api/values.js';
import type { Curve } from '../curves/curve.js';
import type { NamedCurve } from '../curves/more-curves.js';
import { type Knobs, noKnobs, tuningOptions } from '../msm/plan/tuning.js';
import type { Instrument } from '../msm/stages/kernels.js';
import { bare, type OptionTable, type ReadOptions, readOptions, setOptions } from '../option-table.js';
import { threadsHere } from '../threads/platform.js';

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
   * precedence over `device`, `gpu` and `powerPreference`. If the other engine has no
   * GPU, both share the worker threads of the CPU.
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
   * Limit on main memory in bytes: points that engines with the same threads keep there, and sums of all
   * threads, 80 MiB and 32 MiB for each worker. Where workers find no room beside the points, sums have
   * fewer; points that find none are refused with `out-of-memory`, unless the limit is the default. Of
   * engines that share threads by `deviceOf`, the lowest limit that is set holds for all, in the place of
   * the default, also where it is higher. Not counted: scalars of calls and programs.
   *
   * @defaultValue as `openProvingKey` has it
   */
  readonly memoryLimit?: number | undefined;
  /**
   * Settings for how calls share the device and the machine; see `Sharing`.
   *
   * @defaultValue the defaults of `Sharing`
   */
  readonly sharing?: Sharing | undefined;
  /**
   * Knobs to set by hand; see `Tuning`. `calibrate` of `webgpu-msm/calibrate` finds better ones for a
   * device: pass the `tuning` of its result.
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
export const sharingOptions = {
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
export const queueLimitOptions = {
  of: 'maxQueued',
  rows: {
    calls: { kind: 'number', range: [0, NO_LIMIT], default: NO_LIMIT },
    bytes: { kind: 'number', range: [0, NO_LIMIT], default: NO_LIMIT },
  },
} as const satisfies OptionTable<QueueLimits>;

/** The option `memoryLimit` of engines and keys. */
export const memoryLimitRow = {
  kind: 'integer',
  range: [1, Number.MAX_SAFE_INTEGER],
  says: 'a positive integer of bytes',
} as const;

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
    memoryLimit: memoryLimitRow,
    sharing: {
      kind: 'group',
      table: sharingOptions,
      default: {},
      says: '{ overlap, merge, keep, sidePool, throttle, yieldWhile }',
    },
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

/** How an engine computes, by its options. */
export interface Settings extends Omit<ReadEngineOptions, 'tuning'> {
  readonly tuning: Knobs;
  readonly sharing: ReadEngineOptions['sharing'] & { readonly sidePool: number };
}

/**
 * Reads the options of an engine. They are copied: later changes of the caller's objects have no
 * effect.
 *
 * @throws MsmError `bad-argument` that names the option
 */
export const readSettings = (options: MsmEngineOptions<Coordinate>, instrument?: Instrument): Settings => {
  const read = readOptions(engineOptions, options, bare);
  const { sidePool = Math.ceil(threadsHere() / 4), ...sharing } = read.sharing;
  // every knob is an own property, so that copies of this object inherit none
  const tuning = { ...noKnobs, ...setOptions(read.tuning), instrument } as Knobs;
  const isGpuAlone = read.backend === 'gpu' && tuning.cpuBelow === undefined;
  return {
    ...read,
    sharing: { ...sharing, sidePool },
    tuning: Object.freeze({ ...tuning, ...(isGpuAlone && { cpuBelow: 0 }) }),
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
