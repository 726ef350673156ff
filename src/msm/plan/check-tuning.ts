/** What knobs may be. */
import type { Tuning } from '../../api/tuning.js';
import { badArgument, show } from '../../errors.js';
import { fieldProducts } from '../../field/modulus.js';

/** What the knobs that are words may say. */
export const tuningChoices = {
  walkerPrefixMemory: ['private', 'workgroup'],
  fieldProduct: fieldProducts,
  cpuDistribution: ['dynamic', 'static'],
} as const;

/** The least and the most of the knobs that are numbers. */
export const tuningRanges: Readonly<
  Record<Exclude<keyof Tuning, keyof typeof tuningChoices>, readonly [number, number]>
> = {
  windowBits: [2, 16],
  walkerThreadsPerWorkgroup: [1, 256],
  walkerSlots: [1, 64],
  walkerTasks: [1, 2 ** 20],
  walkerEntriesPerTask: [1, 2 ** 16],
  walkerLeastThreads: [1, 2 ** 20],
  additionsPerSubmit: [2 ** 10, 2 ** 30],
  sortThreadsPerWorkgroup: [1, 64],
  sortEntriesPerThread: [1, 256],
  cpuBelow: [0, 2 ** 16],
  cpuChunk: [0, 256],
};

/** Every knob, not set. */
export const noKnobs: Partial<Tuning> = Object.fromEntries(
  [...Object.keys(tuningChoices), ...Object.keys(tuningRanges)].map((name) => [name, undefined]),
);

/**
 * @returns a copy, which nobody can change any more
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
