import type { Tuning } from '../../api/tuning.js';
import type { Instrument } from '../stages/instrument.js';
import type { ReduceShape } from '../stages/reduce.js';
import type { SortPass, SortShape } from '../stages/sort.js';
import type { DeviceProfile } from './device-defaults.js';

/** Limits of a device that sizes depend on. */
export interface PlanLimits extends DeviceProfile {
  readonly maxStorageBufferBindingSize: number;
  readonly maxBufferSize: number;
}

/**
 * Bytes of the scratch buffers of one MSM, by name, and of `accounts` and `bitSums`, which it
 * returns. An instrument adds buffers of its own.
 */
export type ScratchSizes = Readonly<Record<ScratchName, number>>;
export type ScratchName =
  | 'scalars'
  | 'vectors'
  | 'picks'
  | 'entriesA'
  | 'entriesB'
  | 'counts'
  | 'totals'
  | 'levels'
  | 'buckets'
  | 'carriesA'
  | 'partialsA'
  | 'carriesB'
  | 'partialsB'
  | 'splitSums'
  | 'foldSums'
  | 'accounts'
  | 'bitSums';

/**
 * Every size and count of an MSM by Pippenger's bucket method, or of several MSMs that are computed
 * as one. A plan is a pure function of the workload, the curve, the limits of the device and the
 * knobs.
 */
export interface Plan {
  readonly vectors: number;
  /** Scalars of the longest vector. */
  readonly n: number;
  readonly tuning: Tuning;
  /** The instrument that the plan has room for. */
  readonly instrument: Instrument | undefined;
  /** Blocks that a scalar is cut into, one for each table that is used. */
  readonly blocks: number;
  readonly blockBits: number;
  /** Resident multiples of each base. */
  readonly tables: number;
  /** T: windows of one vector. */
  readonly vectorWindows: number;
  /** Windows of all vectors; each has a window row of entries and a set of buckets. */
  readonly windows: number;
  /** Windows that are sorted and walked together; the last group may have fewer. */
  readonly windowsPerGroup: number;
  /** B: buckets of one window. */
  readonly buckets: number;
  readonly sortPasses: readonly SortPass[];
  readonly sortShape: SortShape;
  /** Tiles of one window row in the sort. */
  readonly tiles: number;
  /** The most tasks of each walk over the sorted stream and its partial sums, down to 1. */
  readonly levelTasks: readonly number[];
  readonly reduce: ReduceShape;
  readonly scratch: ScratchSizes;
  readonly scratchBytes: number;
  /** The most additions: nonzero digits, and the reduction. */
  readonly additions: number;
  /** Groups of windows; each is a submit. */
  readonly groups: number;
  /**
   * The reduction has a submit of its own, because the last group's would take too long with it.
   */
  readonly reduceOwnSubmit: boolean;
  readonly submits: number;
  /** Dispatches of the commands that record.ts makes of this plan. */
  readonly dispatches: number;
  /** The most passes that are timed. */
  readonly timedPasses: number;
  /** Bytes that are charged to the budget: the scratch and the small buffers of the submit. */
  readonly peakBytes: number;
}
