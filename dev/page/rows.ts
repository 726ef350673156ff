/** The rows that a run is told in: what `window.msmBench.rows` holds and what is posted to the dev server. */
import type { AdapterDescription, PhaseTime } from '../../src/api.js';
import type { FieldBenchRow } from '../field-bench/run.js';

/** In the order in which a run tells them. */
export const rowEvents = ['init', 'warm-up', 'repetition', 'case', 'peak', 'field', 'skipped', 'end'] as const;
export type RowEvent = (typeof rowEvents)[number];

/** Where rows are posted, below the page's own address. */
export const rowPaths = ['progress', 'results'] as const;
export type RowPath = (typeof rowPaths)[number];

export const runIdPattern = /^[a-z0-9-]{8,64}$/;

export type Placement = 'private' | 'workgroup';

/** An engine is there and the run begins. */
export interface InitRow {
  readonly event: 'init';
  readonly mode: string;
  readonly query: string;
  readonly adapter: AdapterDescription;
  readonly userAgent: string;
  readonly createMs: number;
}

/** The first MSM of a size: it includes what is compiled and allocated on first use. */
export interface WarmUpRow {
  readonly event: 'warm-up';
  readonly case: string;
  readonly loadMs: number;
  readonly wallMs: number;
  readonly agrees: boolean;
}

/** One timed MSM. A result that is not right has no time. */
export interface RepetitionRow {
  readonly event: 'repetition';
  readonly case: string;
  readonly n: number;
  readonly placement: Placement;
  readonly repetition: number;
  readonly agrees: boolean;
  readonly wallMs: number | null;
  /** Wall × the rate of the plain 13-bit product, measured before and after: the cost, whatever else the machine does. */
  readonly productEquivalents: number | null;
  /** Sum of the phases on the GPU; null where the adapter has no timestamps. */
  readonly gpuMs: number | null;
  readonly phases: readonly PhaseTime[] | null;
}

/** The verdict over all runs of one case with one placement. */
export interface CaseRow {
  readonly event: 'case';
  readonly case: string;
  readonly placement: Placement;
  readonly runs: number;
  /** Every run gave the answer of the oracles. */
  readonly agrees: boolean;
  readonly onCurve: boolean;
  /** Every run gave the same bytes. */
  readonly identical: boolean;
  readonly medianMs: number | null;
  readonly error: string | null;
}

/** What the device does at its best: operations a second, bytes for a copy. */
export interface PeakRow {
  readonly event: 'peak';
  readonly operation: string;
  readonly perSecond: number;
}

/** One operation of the field in one way. */
export interface FieldRow extends FieldBenchRow {
  readonly event: 'field';
}

/** What this device cannot do, or not exactly. */
export interface SkippedRow {
  readonly event: 'skipped';
  readonly variant: string;
  readonly why: string;
}

export interface EndRow {
  readonly event: 'end';
  readonly status: 'done' | 'failed';
  readonly error: string | null;
  readonly seconds: number;
  readonly medians: readonly { readonly case: string; readonly medianMs: number }[];
}

export type Row = InitRow | WarmUpRow | RepetitionRow | CaseRow | PeakRow | FieldRow | SkippedRow | EndRow;

/** A row as it is posted and stored. */
export type StampedRow = Row & { readonly runId: string; readonly at: string };
