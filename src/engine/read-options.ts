/** Reading of an engine's options. */
import type { Calibration } from '../api/calibration.js';
import type { EngineEvent, QueueLimits, Sharing } from '../api/sharing.js';
import type { TuningOptions } from '../api/tuning.js';
import type { Coordinate } from '../api/values.js';
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
import type { MsmEngineOptions } from './options.js';

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

/** `calibration`, of which an engine uses the knobs. */
export const calibrationOptions = {
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
export type ReadEngineOptions = ReadOptions<MsmEngineOptions<Coordinate>, typeof engineOptions.rows>;

/**
 * Copies the options of an engine: later changes of the caller's objects have no effect.
 *
 * @throws MsmError `bad-argument` that names the option
 */
export const readEngineOptions = (options: MsmEngineOptions<Coordinate>): ReadEngineOptions =>
  readOptions(engineOptions, options, bare);

/** `Sharing` with its defaults. */
export type SharingSettings = ReadEngineOptions['sharing'] & { readonly sidePool: number };

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
