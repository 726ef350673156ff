/** The options of `openProvingKey`. */
import type { MsmEngineOptions } from '../engine/options.js';
import { readOptions } from '../engine/read-options.js';
import { badArgument } from '../errors.js';
import { ownOptions } from '../own-options.js';
import type { CallQueue } from '../scheduling/call-queue.js';

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

/** Options of `openProvingKey`, and what they make. */
export interface KeyOptions<Options> {
  readonly own: Partial<Options>;
  readonly ofEngines: EngineOptions;
  /** Queue of the key's proofs. */
  readonly proofs: CallQueue;
}

/**
 * Copies the options of `openProvingKey`.
 *
 * @param others names of options that are not for engines
 * @throws MsmError `bad-argument` naming an option that there is not, or that is wrong
 */
export const readKeyOptions = <Options extends EngineOptions>(
  options: Options,
  others: readonly (keyof Options & string)[],
): KeyOptions<Options> => {
  const own = ownOptions(options);
  const names: readonly string[] = [...ofEngines, ...ofProofs, ...others];
  const unknown = Object.keys(own).find((name) => !names.includes(name));
  if (unknown !== undefined) throw badArgument(`options.${unknown} is not an option of openProvingKey`);
  const given = ofEngines.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]]]));
  return { own, ofEngines: Object.fromEntries(given), proofs: readOptions(own).queueOf(PROOFS_AT_A_TIME) };
};
