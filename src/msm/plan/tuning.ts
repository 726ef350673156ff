/**
 * The knobs of a sum: those that are set, the defaults of the device and of the scalars, and the
 * limits of both.
 */
import type { Tuning, TuningOptions } from '../../api/device.js';
import type { CurveContext } from '../../curves/curve.js';
import { badArgument } from '../../errors.js';
import { type Degree, type FieldProduct, fieldProducts } from '../../field/modulus.js';
import { type OptionTable, readOptions, setOptions } from '../../option-table.js';
import type { Instrument } from '../stages/kernels.js';
import { MOST_SORT_ENTRIES, MOST_SORT_THREADS, sortPasses } from '../stages/sort.js';
import { mostSlots, prefixBytes } from '../stages/walk.js';
import type { ClassKnobs } from './device-profiles.js';
import { blocksOf, expectedDigits, type Workload, windowCount } from './workload.js';

/** Knobs that are set, and the instrument of the engine. */
export interface Knobs extends Partial<Tuning> {
  readonly instrument?: Instrument | undefined;
}

/**
 * Returns all knobs, with defaults for those that the caller left unset, and clamped to the limits
 * of the device.
 */
export const resolveTuning = (load: Workload, curve: CurveContext, device: DeviceProfile, overrides: Knobs): Tuning => {
  const { instrument: _, ...set } = setOptions(overrides);
  const fixed = { ...deviceDefaults(device, curve.coordinates.degree), ...set };
  const wanted: Tuning = { windowBits: defaultWindowBits(load, fixed.additionsPerSubmit), ...fixed };
  const tuning: Tuning = {
    ...wanted,
    walkerSlots:
      wanted.walkerCoordinates === 'xyzz'
        ? 1
        : Math.min(wanted.walkerSlots, mostSlots(curve, wanted.walkerPrefixMemory)),
  };
  const fits =
    tuning.walkerPrefixMemory === 'private'
      ? Number.POSITIVE_INFINITY
      : Math.floor(device.maxComputeWorkgroupStorageSize / prefixBytes(curve, 1, tuning.walkerSlots));
  if (fits < 1) {
    throw badArgument(
      `tuning.walkerSlots: the prefix products of ${tuning.walkerSlots} slots do not fit the device's ` +
        `${device.maxComputeWorkgroupStorageSize} bytes of workgroup memory; use fewer slots or 'private' prefixes`,
    );
  }
  return {
    ...tuning,
    walkerThreadsPerWorkgroup: Math.min(
      tuning.walkerThreadsPerWorkgroup,
      fits,
      device.maxComputeInvocationsPerWorkgroup,
      device.maxComputeWorkgroupSizeX,
    ),
  };
};

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

/** Properties of a device that the defaults of the knobs depend on. */
export interface DeviceProfile {
  /** Defaults of its class of adapters. */
  readonly knobs: ClassKnobs;
  /** Whether it is a large GPU: groups take the whole budget, the first submits are larger. */
  readonly isWide?: boolean | undefined;
  /** The product that the device computes fastest. */
  readonly product: FieldProduct;
  /** Additions per millisecond in the walk, measured by an earlier run; null before. */
  readonly additionsPerMs: number | null;
  readonly maxComputeInvocationsPerWorkgroup: number;
  readonly maxComputeWorkgroupSizeX: number;
  readonly maxComputeWorkgroupStorageSize: number;
}

/**
 * Time that a submit may hold a GPU, in ms: too short for a visible stutter of an animation, and
 * far from the limit of a watchdog.
 */
export const SUBMIT_MS = 100;

/**
 * Additions of a submit before anything was measured: 60 ms on a Google Pixel 10, the slowest phone
 * with published results.
 */
export const UNMEASURED_BOUND = 2 ** 18;

/** The same on a large GPU: 200 ms on the slowest graphics cards, 2 ms on an H200. */
export const UNMEASURED_WIDE_BOUND = 2 ** 21;

/** Returns a power of two, so that small changes of the measurement do not change the plan. */
const submitBound = ({ additionsPerMs, isWide }: DeviceProfile): number =>
  additionsPerMs === null
    ? isWide
      ? UNMEASURED_WIDE_BOUND
      : UNMEASURED_BOUND
    : 2 ** Math.min(30, Math.max(16, Math.floor(Math.log2(SUBMIT_MS * additionsPerMs))));

const defaultAdditionsPerSubmit = (device: DeviceProfile): number =>
  device.knobs.additionsPerSubmit ?? submitBound(device);

/** Returns the most additions of a submit, which is known before any plan. */
export const additionsPerSubmitOf = (device: DeviceProfile, overrides: Partial<DeviceKnobs>): number =>
  overrides.additionsPerSubmit ?? defaultAdditionsPerSubmit(device);

/**
 * Returns the product that pipelines and resident bases are made for, which is known before any
 * plan.
 */
export const fieldProductOf = (device: Pick<DeviceProfile, 'product'>, overrides: Partial<DeviceKnobs>): FieldProduct =>
  overrides.fieldProduct ?? device.product;

/** Knobs whose defaults depend on the device alone. */
type DeviceKnobs = Omit<Tuning, 'windowBits'>;

/**
 * Returns the defaults of the knobs on a device.
 *
 * @param degree degree of the field of coordinates over F_p
 */
export const deviceDefaults = (device: DeviceProfile, degree: Degree = 1): DeviceKnobs => {
  const { pairs, ...knobs } = device.knobs;
  return {
    walkerPrefixMemory: 'private',
    ...knobs,
    ...(degree === 2 ? pairs : {}),
    additionsPerSubmit: defaultAdditionsPerSubmit(device),
    fieldProduct: device.product,
    cpuBelow: null,
    cpuDistribution: 'dynamic',
    cpuChunk: 0,
    cpuArithmetic: 'auto',
  };
};

/**
 * Returns the additions of the reduction: each bucket is added to two sums; later additions are
 * few.
 */
export const reduceAdditions = (windowBits: number, windows: number): number => windows * 2 ** windowBits;

/**
 * Costs besides the additions of the walk, in additions. They are fitted to wall times of windows
 * of 9 to 14 bits at n = 2^12, 2^14 and 2^16 on SwiftShader, each of which gives 3.8 to 4.7 for a
 * bucket (docs/reference/performance.md). There is no fit for GPUs.
 */
const COST = {
  /** A digit, zero or not, which decompose writes and the sort reads. */
  digit: 0.05,
  /** A nonzero digit in a pass of the sort. */
  sorted: 0.04,
  /**
   * A bucket with entries: the end of its run, its clearing, and two additions of the reduction,
   * whose slots share fewer inversions.
   */
  bucket: 4.3,
  /** A bucket without entries. */
  emptyBucket: 0.3,
} as const;

/**
 * Widths within this factor of the cheapest count as equal. The narrowest has the fewest buckets,
 * which take memory and are less parallel.
 */
const NEAR_ENOUGH = 1.02;

/** Returns the cheapest c for the expected nonzero digits whose reduction fits a submit. */
export const defaultWindowBits = (load: Workload, additionsPerSubmit: number): number => {
  const blocks = blocksOf(load);
  const cost = (c: number): number => {
    const windows = load.vectors * windowCount(blocks.bits - 1, c);
    if (reduceAdditions(c, windows) > additionsPerSubmit) return Number.POSITIVE_INFINITY;
    const digits = expectedDigits(load, c);
    const buckets = windows * 2 ** (c - 1);
    const filled = buckets * (1 - Math.exp(-digits / buckets));
    return (
      digits * (1 + COST.sorted * sortPasses(c - 1).length) +
      COST.digit * load.n * blocks.count * windows -
      filled +
      COST.bucket * filled +
      COST.emptyBucket * (buckets - filled)
    );
  };
  // for tiny n narrower windows have fewer additions, but more of everything else
  const least = Number.isFinite(cost(4)) ? 4 : 2;
  const costs = Array.from({ length: 17 - least }, (_, i) => cost(least + i));
  const good = NEAR_ENOUGH * Math.min(...costs);
  return least + costs.findIndex((each) => each <= good);
};

/**
 * Returns the c with the fewest additions on the CPU: one for each nonzero digit, and two for each
 * bucket in the running sum (Bernstein, Doumen, Lange, Oosterwijk 2012).
 *
 * @param bits bits of the longest scalar
 * @param digits returns the number of nonzero digits of c bits
 */
export const cpuWindowBits = (bits: number, digits: (windowBits: number) => number): number => {
  const additions = (c: number): number => digits(c) + windowCount(bits, c) * 2 * 2 ** (c - 1);
  let best = 2;
  for (let c = 3; c <= 16; c++) if (additions(c) < additions(best)) best = c;
  return best;
};
