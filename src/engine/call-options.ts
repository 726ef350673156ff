/** Options of an engine's calls. */
import type {
  LoadBasesOptions,
  LoadScalarsOptions,
  MsmBatchOptions,
  MsmOptions,
  Priority,
  Progress,
  TurnOptions,
} from '../api/calls.js';
import type { PointEncoding, ScalarEncoding } from '../api/values.js';
import type { OptionTable } from '../option-table.js';

const priorities = ['interactive', 'normal', 'background'] as const satisfies readonly Priority[];
const scalarEncodings = ['le', 'be', 'le-montgomery'] as const satisfies readonly ScalarEncoding[];

/** Options that decide when a call has its turn. */
export const turnRows = {
  priority: { kind: 'choice', range: priorities, default: 'normal' },
  deadline: { kind: 'number', range: [0, Number.POSITIVE_INFINITY], says: 'a number of milliseconds from 0' },
} as const satisfies OptionTable<TurnOptions>['rows'];

/** The option of calls that can be aborted. */
export const signalRow = { kind: 'signal' } as const;

/** The option of calls that report progress. */
export const progressRow = { kind: 'function' } as const;

/** Number of tables of a base at most. */
const MOST_TABLES = 64;

/** `engine.loadBases`. */
export const loadBasesOptions = {
  of: 'loadBases',
  rows: {
    ...turnRows,
    label: { kind: 'text', default: 'bases' },
    precompute: { kind: 'integer', range: [1, MOST_TABLES], default: 1 },
    // checked further with the curve, which not every encoding is for
    encoding: { kind: 'text' },
    checkSubgroup: { kind: 'flag', default: false },
    signal: signalRow,
    onProgress: progressRow,
  },
} as const satisfies OptionTable<LoadBasesOptions>;

/** `engine.loadScalars`. */
export const loadScalarsOptions = {
  of: 'loadScalars',
  rows: {
    ...turnRows,
    label: { kind: 'text', default: 'scalars' },
    scalarEncoding: { kind: 'choice', range: scalarEncodings },
    signal: signalRow,
  },
} as const satisfies OptionTable<LoadScalarsOptions>;

const sumRows = {
  ...turnRows,
  scalarEncoding: { kind: 'choice', range: scalarEncodings },
  // checked with the curve, which not every encoding is for
  result: { kind: 'any', default: 'affine' },
  verify: { kind: 'share' },
  signal: signalRow,
  onProgress: progressRow,
} as const;

/** `engine.msm`; the offset is checked with the bases. */
export const msmOptions = {
  of: 'msm',
  rows: { ...sumRows, offset: { kind: 'any' } },
} as const satisfies OptionTable<MsmOptions<'affine' | PointEncoding>>;

/** `engine.msmBatch`; the offsets are checked with the bases. */
export const msmBatchOptions = {
  of: 'msmBatch',
  rows: { ...sumRows, offsets: { kind: 'any' } },
} as const satisfies OptionTable<MsmBatchOptions<'affine' | PointEncoding>>;

/** Options of a call that decide when it runs and what it reports. */
export interface CallSettings {
  readonly priority: Priority;
  readonly deadline?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** Options of a call that computes sums. */
export interface SumSettings extends CallSettings {
  readonly scalarEncoding: ScalarEncoding | undefined;
  readonly result: 'affine' | PointEncoding;
  readonly verify: number | undefined;
}
