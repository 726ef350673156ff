/** Valid values of the knobs. */
import type { Tuning, TuningOptions } from '../../api/tuning.js';
import { fieldProducts } from '../../field/modulus.js';
import { type OptionTable, readOptions, setOptions } from '../../option-table.js';
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

const rowsOf = (kind: 'choice' | 'integer', ranges: Readonly<Record<string, readonly unknown[]>>) =>
  Object.entries(ranges).map(([name, range]) => [name, { kind, range, isNullable: name === 'cpuBelow' }]);

/** The knobs. */
export const tuningOptions = /* @__PURE__ */ (() => ({
  of: 'tuning',
  rows: Object.fromEntries([...rowsOf('choice', tuningChoices), ...rowsOf('integer', tuningRanges)]),
}))() as OptionTable<TuningOptions>;

/** Every knob, unset. */
export const noKnobs: Partial<Tuning> = /* @__PURE__ */ Object.fromEntries(
  /* @__PURE__ */ Object.keys(tuningOptions.rows).map((name) => [name, undefined]),
);

/**
 * Checks the knobs that a caller sets.
 *
 * @returns a frozen copy
 * @throws MsmError `bad-argument` naming the knob and its range
 */
export const checkTuning = (given: TuningOptions): Partial<Tuning> =>
  Object.freeze(
    setOptions(readOptions(tuningOptions, given, { argument: 'tuning', path: 'tuning.' })),
  ) as Partial<Tuning>;
