/**
 * Groups of an engine's options. Each reader throws MsmError `bad-argument`, which names the
 * option.
 */
import type { QueueLimits, Sharing } from '../api/sharing.js';
import type { Tuning } from '../api/tuning.js';
import { badArgument, show } from '../errors.js';
import type { WorkerOptions } from '../msm/cpu/threads.js';
import { checkTuning, noKnobs } from '../msm/plan/check-tuning.js';
import { given, type Knobs } from '../msm/plan/tuning.js';
import type { Instrument } from '../msm/stages/instrument.js';
import { ownOptions } from '../own-options.js';
import { threadsHere } from '../threads/platform.js';
import type { FirstUseOptions } from './first-use.js';
import type { MsmEngineOptions, OtherOptions } from './options.js';

/** `Sharing` with its defaults. */
export type SharingSettings = Required<Omit<Sharing, 'yieldWhile'>> & Pick<Sharing, 'yieldWhile'>;

/** Reads `sharing`. */
export const readSharing = (given: Sharing): SharingSettings => {
  if (typeof given !== 'object' || given === null) {
    throw badArgument(`sharing must be { overlap, merge, keep, sidePool, throttle, yieldWhile }, got ${show(given)}`);
  }
  const own = ownOptions(given);
  const { overlap = true, merge = true, keep = true, throttle = false } = own;
  const { sidePool = Math.ceil(threadsHere() / 4) } = own;
  for (const [name, is] of Object.entries({ overlap, merge, keep, throttle })) {
    if (typeof is !== 'boolean') throw badArgument(`sharing.${name} must be true or false, got ${show(is)}`);
  }
  if (!(Number.isInteger(sidePool) && sidePool >= 0)) {
    throw badArgument(`sharing.sidePool must be an integer from 0, got ${show(sidePool)}`);
  }
  const { yieldWhile } = own;
  if (yieldWhile !== undefined && typeof yieldWhile !== 'function') {
    throw badArgument(`sharing.yieldWhile must be a function, got ${show(yieldWhile)}`);
  }
  return { overlap, merge, keep, sidePool, throttle, ...(yieldWhile && { yieldWhile }) };
};

/** Reads `memoryBudget`, null for the default of the device, and `deviceBudget`. */
export const readBudgets = (
  options: OtherOptions,
): { readonly memoryBudget: number | null; readonly deviceBudget: number } => {
  const { memoryBudget, deviceBudget = Number.POSITIVE_INFINITY } = options;
  if (memoryBudget !== undefined && !(Number.isInteger(memoryBudget) && memoryBudget > 0)) {
    throw badArgument(`memoryBudget must be a positive integer of bytes, got ${show(memoryBudget)}`);
  }
  if (!(typeof deviceBudget === 'number' && deviceBudget > 0)) {
    throw badArgument(`deviceBudget must be a positive number of bytes, got ${show(deviceBudget)}`);
  }
  return { memoryBudget: memoryBudget ?? null, deviceBudget };
};

/** Reads `calibration` and `tuning`, which has precedence. */
export const readKnobs = (options: OtherOptions, instrument: Instrument | undefined): Knobs => {
  const { backend, calibration, tuning: knobs = {} } = options;
  if (calibration !== undefined && (typeof calibration !== 'object' || calibration === null)) {
    throw badArgument(`calibration must be what calibrate returned, got ${show(calibration)}`);
  }
  const set = {
    ...noKnobs,
    ...(calibration === undefined ? {} : checkTuning(ownOptions(calibration).tuning as Partial<Tuning>)),
    ...given(checkTuning(knobs)),
  };
  // every knob is an own property, so that copies of this object inherit none
  return Object.freeze({
    ...set,
    ...(backend === 'gpu' && set.cpuBelow === undefined && { cpuBelow: 0 }),
    instrument,
  });
};

/** Reads `calibrate` and `calibrationStore`; null if nothing is to be measured. */
export const readFirstUse = (options: OtherOptions): FirstUseOptions | null => {
  const { calibrate, calibration, calibrationStore: store } = options;
  if (calibrate !== undefined && calibrate !== 'first-use') {
    throw badArgument(`calibrate must be 'first-use', got ${show(calibrate)}`);
  }
  const isStore = typeof store?.get === 'function' && typeof store.set === 'function';
  if (store !== undefined && store !== null && !isStore) {
    throw badArgument(`calibrationStore must be { get, set } or null, got ${show(store)}`);
  }
  return calibrate === undefined || calibration !== undefined ? null : { store };
};

/** Options that say how calls are computed. */
export interface Computing {
  readonly backend: NonNullable<MsmEngineOptions['backend']>;
  readonly retainBases: boolean;
  readonly retries: number;
  readonly selfTests: boolean;
}

const backends: readonly unknown[] = ['auto', 'gpu', 'cpu', 'both'];

/** Reads `backend`, `retainBases`, `selfTest` and `retries`. */
export const readComputing = (options: OtherOptions): Computing => {
  const { backend = 'auto', retainBases = true, retries = 1, selfTest: selfTests = true } = options;
  if (typeof retainBases !== 'boolean') {
    throw badArgument(`retainBases must be true or false, got ${show(retainBases)}`);
  }
  if (typeof selfTests !== 'boolean') throw badArgument(`selfTest must be true or false, got ${show(selfTests)}`);
  if (!(Number.isInteger(retries) && retries >= 0)) {
    throw badArgument(`retries must be an integer of at least 0, got ${show(retries)}`);
  }
  if (!backends.includes(backend)) {
    throw badArgument(`backend must be '${backends.join("' or '")}', got ${show(backend)}`);
  }
  return { backend, retainBases, retries, selfTests };
};

/** Reads `maxWorkers` and `createWorker`. */
export const readWorkers = ({ maxWorkers, createWorker, onWarning }: OtherOptions): WorkerOptions => {
  if (maxWorkers !== undefined && !(Number.isInteger(maxWorkers) && maxWorkers >= 0 && maxWorkers <= 1024)) {
    throw badArgument(`maxWorkers must be an integer from 0 to 1024, got ${show(maxWorkers)}`);
  }
  if (createWorker !== undefined && typeof createWorker !== 'function') {
    throw badArgument(`createWorker must be a function that returns a worker, got ${show(createWorker)}`);
  }
  return { maxWorkers, createWorker, onWarning };
};

/** Reads `maxQueued`. */
export const readQueueLimits = ({ maxQueued = {} }: OtherOptions): Required<QueueLimits> => {
  if (typeof maxQueued !== 'object' || maxQueued === null) {
    throw badArgument(`maxQueued must be { calls, bytes }, got ${show(maxQueued)}`);
  }
  const { calls = Number.POSITIVE_INFINITY, bytes = Number.POSITIVE_INFINITY } = ownOptions(maxQueued);
  for (const [name, most] of Object.entries({ calls, bytes })) {
    if (!(typeof most === 'number' && most >= 0)) {
      throw badArgument(`maxQueued.${name} must be a number from 0, got ${show(most)}`);
    }
  }
  return { calls, bytes };
};

/** Refuses `onEvent` and `onWarning` that are no functions. */
export const assertFunctions = ({ onEvent, onWarning }: OtherOptions): void => {
  for (const [name, callback] of Object.entries({ onEvent, onWarning })) {
    if (callback !== undefined && typeof callback !== 'function') {
      throw badArgument(`${name} must be a function, got ${show(callback)}`);
    }
  }
};
