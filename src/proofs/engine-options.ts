/** The options of `openProvingKey`. */
import { engineOptions, type MsmEngineOptions, signalRow } from '../engine/options.js';
import { type OptionTable, pickRows, type ReadOptions, setOptions } from '../option-table.js';
import { CallQueue } from '../scheduling/call-queue.js';

/** Options that keys pass on to their engines. */
export const ofEngines = [
  'backend',
  'device',
  'deviceOf',
  'gpu',
  'maxWorkers',
  'createWorker',
  'memoryBudget',
  'deviceBudget',
  'retries',
  'sharing',
  'tuning',
  'calibrate',
  'calibrationStore',
  'verify',
  'onWarning',
] as const satisfies readonly (keyof MsmEngineOptions)[];

/** Options of engines that keys apply to their proofs. */
export const ofProofs = ['maxQueued', 'onEvent'] as const satisfies readonly (keyof MsmEngineOptions)[];

/**
 * Options of engines, as `createMsmEngine` has them. `maxQueued` and `onEvent` are about proofs,
 * not about their sums.
 */
export interface EngineOptions extends Pick<MsmEngineOptions, (typeof ofEngines)[number] | (typeof ofProofs)[number]> {}

/**
 * Proofs of a key that are under way at a time: one is prepared while the device computes for the
 * other. The CPU takes as long for many with 1, 2 or 3 (row `proofs-at-a-time`).
 */
const PROOFS_AT_A_TIME = 2;

/** Options of `openProvingKey` in all proof systems. */
export interface KeyOptions extends EngineOptions {
  readonly signal?: AbortSignal | undefined;
}

/** `openProvingKey` in all proof systems. */
export const keyOptions = {
  of: 'openProvingKey',
  rows: { .../* @__PURE__ */ pickRows(engineOptions.rows, [...ofEngines, ...ofProofs]), signal: signalRow },
} as const satisfies OptionTable<KeyOptions>;

/** Settings that the options of a key make. */
export interface KeySettings {
  /** Options of engines that are set. */
  readonly ofEngines: EngineOptions;
  /** Queue of the key's proofs. */
  readonly proofs: CallQueue;
}

const NO_LIMITS = { calls: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY } as const;

/** Returns the options of the engines of a key, and the queue of its proofs. */
export const keySettingsOf = (read: ReadOptions<KeyOptions, typeof keyOptions.rows>): KeySettings => {
  const { maxQueued = NO_LIMITS, onEvent, sharing } = read;
  const width = sharing?.overlap === false ? 1 : PROOFS_AT_A_TIME;
  return {
    ofEngines: setOptions(Object.fromEntries(ofEngines.map((name) => [name, read[name]]))) as EngineOptions,
    proofs: new CallQueue(maxQueued, onEvent, width),
  };
};
