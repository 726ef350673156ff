import type { CurveContext } from '../curves/curve.js';
import { badArgument, show } from '../errors.js';
import type { CarryMode } from '../field/carry.js';
import { sortPasses } from '../stages/sort.js';
import { mostSlots, prefixBytes } from '../stages/walk.js';
import { expectedDigits, piecesOf, type Workload } from './workload.js';

/**
 * The knobs of one MSM. Every one has a default chosen from n and the device; a caller sets some of them with
 * `createMsmEngine({ tuning })`. No knob changes the result, only what it costs.
 */
export interface Tuning {
  /** c, the width of a scalar window in bits, 2 to 16. A window has 2^(c-1) buckets. */
  readonly windowBits: number;
  /** Where the walker keeps the prefix products of its shared inversion. */
  readonly walkerPrefixMemory: 'private' | 'workgroup';
  /**
   * Threads in a workgroup of the walker, 1 to 256. Clamped to the device's limit, and with `workgroup` prefixes to what
   * fits its workgroup memory; `lastRun.tuning` says what was used.
   */
  readonly walkerThreadsPerWorkgroup: number;
  /**
   * S, the tasks that one walker thread advances together, 1 to 64; they share one field inversion per step. Clamped to what fits the
   * private memory that WGSL guarantees, which matters above 48 slots on fields of 381 bits.
   */
  readonly walkerSlots: number;
  /** The most tasks that one walk is cut into, 1 to 2^20. */
  readonly walkerTasks: number;
  /** The planner makes no more tasks than gives each of them this many entries, 1 to 2^16. */
  readonly walkerEntriesPerTask: number;
  /** A walk of few tasks fills fewer slots a thread rather than run on fewer threads than this, 1 to 2^20. */
  readonly walkerLeastThreads: number;
  /**
   * The most additions that one submit may do, 2^10 to 2^30; beyond it the windows are done in groups and the scalars in chunks.
   * Bounds how long a submit holds the GPU. Default: what the device does in 100 ms as measured by the engine's earlier runs, 2^18
   * before; no bound on software adapters, which hold up nobody's screen.
   */
  readonly additionsPerSubmit: number;
  /** Threads in a workgroup of the sort, 1 to 64. */
  readonly sortThreadsPerWorkgroup: number;
  /** Entries that one thread of the sort ranks in sequence, 1 to 256. */
  readonly sortEntriesPerThread: number;
  /**
   * How carries are computed: by integer shifts, or through floats, for devices that are slow at shifts. `float` needs a device that
   * rounds f32 sums to the nearest; what then is wrong is refused, never returned. Default: `float` on SwiftShader only.
   */
  readonly fieldCarry: CarryMode;
  /**
   * MSMs of at most so many scalars are computed on the CPU, where the answer is there sooner than a GPU's, 0 to 2^16; 0 leaves all
   * of them to the GPU. Zeros do not count where they are the most; a vector more of a batch counts as 16. Needs the points in main memory
   * (`retainBases`). Results are the same.
   */
  readonly cpuBelow: number;
  /**
   * A debug mode: checks between the stages, on the GPU, that what one left is what the next may rely on, and rejects with
   * `internal` naming stage, bucket and task if not. Slower, and takes more scratch. Default false.
   */
  readonly checks: boolean;
}

/** What the defaults depend on. */
export interface DeviceProfile {
  readonly software: boolean;
  /** Shifts are much slower than additions: SwiftShader. */
  readonly slowShifts: boolean;
  /** Additions a millisecond in the walk, as measured by an earlier run; null before. */
  readonly additionsPerMs: number | null;
  readonly maxComputeInvocationsPerWorkgroup: number;
  readonly maxComputeWorkgroupSizeX: number;
  readonly maxComputeWorkgroupStorageSize: number;
}

/** What the knobs that are words may say. */
export const tuningChoices = { walkerPrefixMemory: ['private', 'workgroup'], fieldCarry: ['shift', 'float'] } as const;

/** The least and the most of the knobs that are numbers. */
export const tuningRanges: Readonly<
  Record<Exclude<keyof Tuning, keyof typeof tuningChoices | 'checks'>, readonly [number, number]>
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
};

/**
 * @returns a copy, which nobody can change any more
 * @throws MsmError `bad-argument` naming the knob and its range
 */
export const checkTuning = (given: Partial<Tuning>): Partial<Tuning> => {
  if (typeof given !== 'object' || given === null) throw badArgument(`tuning must be an object, got ${show(given)}`);
  const tuning = Object.freeze({ ...given });
  for (const [name, value] of Object.entries(tuning)) {
    if (value === undefined) continue;
    if (Object.hasOwn(tuningChoices, name)) {
      const words: readonly unknown[] = tuningChoices[name as keyof typeof tuningChoices];
      if (!words.includes(value)) {
        throw badArgument(`tuning.${name} must be '${words.join("' or '")}', got ${show(value)}`);
      }
      continue;
    }
    if (name === 'checks') {
      if (typeof value !== 'boolean') throw badArgument(`tuning.checks must be true or false, got ${show(value)}`);
      continue;
    }
    const range = Object.hasOwn(tuningRanges, name) ? tuningRanges[name as keyof typeof tuningRanges] : undefined;
    if (range === undefined) {
      throw badArgument(
        `tuning.${name} is unknown; the knobs are ${Object.keys(tuningChoices).join(', ')}, checks, ${Object.keys(tuningRanges).join(', ')}`,
      );
    }
    if (!Number.isInteger(value) || (value as number) < range[0] || (value as number) > range[1]) {
      throw badArgument(`tuning.${name} must be an integer from ${range[0]} to ${range[1]}, got ${show(value)}`);
    }
  }
  return tuning;
};

/** The knobs that are set: undefined means as if they were not there. */
export const given = (tuning: Partial<Tuning>): Partial<Tuning> =>
  Object.fromEntries(Object.entries(tuning).filter(([, value]) => value !== undefined));

/** T for windows of c bits: one bit more than a scalar has, because the top window must not lend. */
export const windowCount = (scalarBits: number, windowBits: number): number => Math.ceil((scalarBits + 1) / windowBits);

/** Additions of the reduction: every bucket is added to two sums; what is done with those is little. */
export const reduceAdditions = (windowBits: number, windows: number): number => windows * 2 ** windowBits;

/**
 * What there is to do besides the additions of the walk, in additions. Fitted to walls of widths 9 to 14 at n = 2^12, 2^14 and 2^16 on SwiftShader,
 * which all ask for a bucket of 3.8 to 4.7 (docs/performance.md); on GPUs not measured yet.
 */
const COST = {
  /** A digit, zero or not: it is written by decompose and read by the sort. */
  digit: 0.05,
  /** A digit that is not zero, in a pass of the sort. */
  sorted: 0.04,
  /** A bucket with something in it: the end of its run, its clearing, and two additions of the reduction, which has fewer slots to share inversions. */
  bucket: 4.3,
  /** A bucket with nothing in it. */
  emptyBucket: 0.3,
} as const;

/** Of widths that cost about the same the narrowest is taken: it has the fewest buckets, which take memory, and parallelise less well than the walk. */
const NEAR_ENOUGH = 1.02;

/** The c that costs least, by the digits that are expected not to be zero. The reduction must fit a submit. */
const defaultWindowBits = (load: Workload, additionsPerSubmit: number): number => {
  const pieces = piecesOf(load);
  const cost = (c: number): number => {
    const windows = load.vectors * windowCount(pieces.bits - 1, c);
    if (reduceAdditions(c, windows) > additionsPerSubmit) return Number.POSITIVE_INFINITY;
    const digits = expectedDigits(load, c);
    const buckets = windows * 2 ** (c - 1);
    const filled = buckets * (1 - Math.exp(-digits / buckets));
    return (
      digits * (1 + COST.sorted * sortPasses(c - 1).length) +
      COST.digit * load.n * pieces.count * windows -
      filled +
      COST.bucket * filled +
      COST.emptyBucket * (buckets - filled)
    );
  };
  // narrower ones have fewer additions still where n is tiny, and more of everything else
  const least = Number.isFinite(cost(4)) ? 4 : 2;
  const costs = Array.from({ length: 17 - least }, (_, i) => cost(least + i));
  const good = NEAR_ENOUGH * Math.min(...costs);
  return least + costs.findIndex((each) => each <= good);
};

/** Up to here a CPU that plays GPU is slower than one core of the same CPU with BigInts (docs/performance.md, `npm run crossover`). */
const SOFTWARE_CPU_BELOW = 128;

/**
 * What the CPU has to beat on a GPU is a submit and a map, 4 to 17 ms on an M4 (DESIGN §3); 16 scalars took 7 ms on a slow core. Not
 * measured on a GPU yet: `npm run crossover -- --adapter hardware` does it.
 */
const HARDWARE_CPU_BELOW = 16;

/** How long a submit should hold a GPU: no animation stutters for longer than one would notice, no watchdog is near. */
const SUBMIT_MS = 100;

/** Additions of a submit before anything was measured: 60 ms on the slowest phone that DESIGN §3 has numbers of (Pixel 10). */
const UNMEASURED_BOUND = 2 ** 18;

/** A power of two, so that small changes of the measurement do not change the plan. */
const submitBound = (additionsPerMs: number | null): number =>
  additionsPerMs === null
    ? UNMEASURED_BOUND
    : 2 ** Math.min(30, Math.max(16, Math.floor(Math.log2(SUBMIT_MS * additionsPerMs))));

/** What a submit may do; needs no plan. */
export const additionsPerSubmitOf = (device: DeviceProfile, overrides: Partial<Tuning>): number =>
  overrides.additionsPerSubmit ?? (device.software ? 2 ** 30 : submitBound(device.additionsPerMs));

/** What the pipelines depend on; needs no plan. */
export const fieldCarryOf = (device: Pick<DeviceProfile, 'slowShifts'>, overrides: Partial<Tuning>): CarryMode =>
  overrides.fieldCarry ?? (device.slowShifts ? 'float' : 'shift');

/** Up to how many scalars an MSM is the CPU's; needs no plan either. */
export const cpuBelowOf = (device: Pick<DeviceProfile, 'software'>, overrides: Partial<Tuning>): number =>
  overrides.cpuBelow ?? (device.software ? SOFTWARE_CPU_BELOW : HARDWARE_CPU_BELOW);

/**
 * Fills in the knobs that the caller left open.
 *
 * A software adapter has a few cores and no latency to hide: few threads with many slots each. A GPU wants tens of thousands
 * of threads, and slots cost it registers and cache.
 */
export const resolveTuning = (
  load: Workload,
  curve: CurveContext,
  device: DeviceProfile,
  overrides: Partial<Tuning>,
): Tuning => {
  const set = given(overrides);
  const additionsPerSubmit = additionsPerSubmitOf(device, set);
  const wanted: Tuning = {
    windowBits: set.windowBits ?? defaultWindowBits(load, additionsPerSubmit),
    walkerPrefixMemory: 'private',
    walkerThreadsPerWorkgroup: device.software ? 16 : 64,
    walkerSlots: device.software ? 32 : 8,
    walkerTasks: device.software ? 2 ** 12 : 2 ** 17,
    walkerEntriesPerTask: 32,
    walkerLeastThreads: device.software ? 16 : 2 ** 12,
    additionsPerSubmit,
    fieldCarry: fieldCarryOf(device, set),
    sortThreadsPerWorkgroup: device.software ? 16 : 64,
    sortEntriesPerThread: device.software ? 128 : 32,
    cpuBelow: cpuBelowOf(device, set),
    checks: false,
    ...set,
  };
  const tuning: Tuning = {
    ...wanted,
    walkerSlots: Math.min(wanted.walkerSlots, mostSlots(curve, wanted.walkerPrefixMemory)),
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
