/** The options of `openProvingKey`. */
import { signalRow } from '../engine/call-options.js';
import type { MsmEngineOptions } from '../engine/options.js';
import { engineOptions } from '../engine/read-options.js';
import { type OptionTable, pickRows, setOptions } from '../option-table.js';

/** Options that keys pass on to their engines. */
export const ofEngines = [
  'backend',
  'device',
  'deviceOf',
  'gpu',
  'maxWorkers',
  'createWorker',
  'memoryBudget',
  'tuning',
  'calibrate',
  'calibrationStore',
  'verify',
  'onWarning',
] as const satisfies readonly (keyof MsmEngineOptions)[];

/** Options of engines, as `createMsmEngine` has them. */
export interface EngineOptions extends Pick<MsmEngineOptions, (typeof ofEngines)[number]> {}

/** Options of `openProvingKey` in all proof systems. */
export interface KeyOptions extends EngineOptions {
  readonly signal?: AbortSignal | undefined;
}

/** `openProvingKey` in all proof systems. */
export const keyOptions = {
  of: 'openProvingKey',
  rows: { .../* @__PURE__ */ pickRows(engineOptions.rows, ofEngines), signal: signalRow },
} as const satisfies OptionTable<KeyOptions>;

/** Returns the options of engines that are set. */
export const engineOptionsOf = (read: { readonly [Name in keyof EngineOptions]: unknown }): EngineOptions =>
  setOptions(Object.fromEntries(ofEngines.map((name) => [name, read[name]]))) as EngineOptions;
