/** The options of `openProvingKey`. */
import type { MsmEngineOptions } from '../engine/options.js';
import { badArgument } from '../errors.js';
import { ownOptions } from '../own-options.js';

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

/**
 * Copies the options of `openProvingKey`.
 *
 * @param others names of options that are not for engines
 * @throws MsmError `bad-argument` naming an option that there is not
 */
export const readKeyOptions = <Options extends EngineOptions>(
  options: Options,
  others: readonly (keyof Options & string)[],
): { readonly own: Partial<Options>; readonly ofEngines: EngineOptions } => {
  const own = ownOptions(options);
  const names: readonly string[] = [...ofEngines, ...others];
  const unknown = Object.keys(own).find((name) => !names.includes(name));
  if (unknown !== undefined) throw badArgument(`options.${unknown} is not an option of openProvingKey`);
  const given = ofEngines.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name]]]));
  return { own, ofEngines: Object.fromEntries(given) };
};
