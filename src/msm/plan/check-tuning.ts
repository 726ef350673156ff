/** Valid values of the knobs. */
import type { Tuning } from '../../api/tuning.js';
import { badArgument, show } from '../../errors.js';
import { fieldProducts } from '../../field/modulus.js';
import { MOST_SORT_ENTRIES, MOST_SORT_THREADS } from '../stages/sort.js';

/** Values of the knobs that are words. */
export const tuningChoices = {
  walkerCoordinates: ['affine', 'xyzz'],
  walkerPrefixMemory: ['private', 'workgroup'],
  fieldProduct: fieldProducts,
  cpuDistribution: ['dynamic', 'static'],
  cpuArithmetic: ['auto', 'wasm-fma', 'wasm-wide', 'wasm-simd', 'wasm', 'bigint'],
} as const;

/** Least and greatest values of the knobs that are numbers. */
export const tuningRanges: Readonly<
  Record<Exclude<keyof Tuning, keyof typeof tuningChoices>, readonly [number, number]>
> = {
  windowBits: [2, 16],
  walkerThreadsPerWorkgroup: [1, 256],
  walkerSlots: [1, 64],
  walkerTasks: [1, 2 ** 20],
  walkerEntriesPerTask: [1, 2 ** 16],
  walkerLeastThreads: [1, 2 ** 20],
  combineBits: [1, 6],
  additionsPerSubmit: [2 ** 10, 2 ** 30],
  sortThreadsPerWorkgroup: [1, MOST_SORT_THREADS],
  sortEntriesPerThread: [1, MOST_SORT_ENTRIES],
  cpuBelow: [0, 2 ** 16],
  cpuChunk: [0, 256],
};

/** Every knob, unset. */
export const noKnobs: Partial<Tuning> = Object.fromEntries(
  [...Object.keys(tuningChoices), ...Object.keys(tuningRanges)].map((name) => [name, undefined]),
);

/**
 * Checks the knobs that a caller sets.
 *
 * @returns a frozen copy
 * @throws MsmError `bad-argument` naming the knob and its range
 */
export const checkTuning = (given: Partial<Tuning>): Partial<Tuning> => {
  if (typeof given !== 'object' || given === null) throw badArgument(`tuning must be an object, got ${show(given)}`);
  const tuning = Object.freeze({ ...given });
  for (const [name, value] of Object.entries(tuning)) {
    if (value === undefined || (name === 'cpuBelow' && value === null)) continue;
    if (Object.hasOwn(tuningChoices, name)) {
      const words: readonly unknown[] = tuningChoices[name as keyof typeof tuningChoices];
      if (!words.includes(value)) {
        throw badArgument(`tuning.${name} must be '${words.join("' or '")}', got ${show(value)}`);
      }
      continue;
    }
    const range = Object.hasOwn(tuningRanges, name) ? tuningRanges[name as keyof typeof tuningRanges] : undefined;
    if (range === undefined) {
      throw badArgument(
        `tuning.${name} is unknown; the knobs are ${Object.keys(tuningChoices).join(', ')}, ${Object.keys(tuningRanges).join(', ')}`,
      );
    }
    if (!Number.isInteger(value) || (value as number) < range[0] || (value as number) > range[1]) {
      throw badArgument(`tuning.${name} must be an integer from ${range[0]} to ${range[1]}, got ${show(value)}`);
    }
  }
  return tuning;
};
