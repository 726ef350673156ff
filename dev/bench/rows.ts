/** The rows that a run is told in: what `window.msmBench.rows` holds, what is posted to the dev server, and what Node prints. */
import type { CalibrationTrial } from '../../src/api/calibration.js';
import type { AdapterDescription, CompileTime } from '../../src/api/device.js';
import type { HostTimes, PhaseTime, Prediction, RunRecord, TimelineEntry } from '../../src/api/run-record.js';
import type { Tuning } from '../../src/api/tuning.js';
import type { RatioOfMedians } from '../../src/calibrate/statistics.js';
import type { BatchRow as FieldBatchRow, FieldBenchRow } from '../field-bench/run.js';
import type { TraceCall } from '../routing/trace.js';
import type { Environment } from './environment.js';
import type { Mix } from './modes/load/jobs.js';
import type { JobSpans } from './modes/load/statistics.js';
import type { Side } from './modes/proofs/prover.js';
import type { Routing } from './modes/replay/routings.js';
import type { Finding } from './modes/targets/findings.js';
import type { Mode } from './modes.js';
import type { BareThread } from './threads/bare-threads.js';

/** Where rows are posted, below the page's own address. */
export const rowPaths = ['progress', 'results'] as const;
export type RowPath = (typeof rowPaths)[number];

export type Placement = 'private' | 'workgroup';

/** What each event tells. */
interface Rows {
  /** The device is there and the run begins: all that one needs to know to run it again. */
  readonly init: {
    readonly mode: Mode;
    /** The knobs, as in the URL. */
    readonly query: string;
    readonly adapter: AdapterDescription;
    readonly environment: Environment;
    readonly seed: number;
    /** Names of the settings. */
    readonly settings: readonly string[];
    /** Until the device was there. */
    readonly createMs: number;
  };
  /** The first MSM of a size: it includes what is compiled and allocated on first use. */
  readonly 'warm-up': {
    readonly case: string;
    readonly setting: string;
    readonly loadMs: number;
    readonly wallMs: number | null;
    readonly agrees: boolean;
    /** The knobs that the engine used. */
    readonly tuning: Tuning | null;
    /** Knobs that were asked for and could not be had here: `walkertpb: 256 asked, 16 used`. */
    readonly clamped: readonly string[];
    readonly windows: number;
    /** Digits that are not zero: points to add. */
    readonly entries: number;
    readonly dispatches: number;
    readonly submits: number;
    /** What was compiled on the device so far, and the milliseconds of each. */
    readonly pipelines: readonly CompileTime[];
    /** Bytes of GPU memory. */
    readonly basesBytes: number;
    readonly scratchBytes: number;
  };
  /** One timed MSM. A result that is not right has no time. */
  readonly repetition: {
    readonly case: string;
    readonly n: number;
    readonly setting: string;
    /** Where it was computed: small ones may be the CPU's (`cpubelow`). */
    readonly on: RunRecord['on'];
    readonly placement: Placement;
    readonly repetition: number;
    readonly agrees: boolean;
    readonly wallMs: number | null;
    /** Wall × the rate of the plain 13-bit product, measured before and after: the cost, as far as that rate is also that of meanwhile. */
    readonly productEquivalents: number | null;
    /** Sum of the phases on the GPU; null where the adapter has no timestamps. */
    readonly gpuMs: number | null;
    /** Encode, submit to result, read-back. */
    readonly hostTimes: HostTimes | null;
    readonly phases: readonly PhaseTime[] | null;
  };
  /** One MSM with its passes in the order in which they ran. */
  readonly trace: Omit<Rows['repetition'], 'productEquivalents'> & {
    /** Null where the adapter has no timestamps. */
    readonly timeline: readonly TimelineEntry[] | null;
  };
  /** One MSM of a peer, in its turn between ours. */
  readonly peer: {
    readonly peer: string;
    readonly case: string;
    readonly n: number;
    readonly repetition: number;
    readonly agrees: boolean;
    readonly wallMs: number | null;
  };
  /** The roofline of a case: its additions at six products each, at the rate of the product alone. */
  readonly bound: {
    readonly case: string;
    readonly n: number;
    readonly setting: string;
    readonly additions: number;
    readonly products: number;
    /** Of the library's own product, median of those measured between the repetitions. */
    readonly productsPerSecond: number;
    readonly ms: number;
  };
  /** What the pairs of a case say. */
  readonly comparison: {
    readonly case: string;
    readonly n: number;
    readonly a: string;
    readonly b: string;
    readonly pairs: number;
    /** B ÷ A of the walls, and of the product equivalents; null without a GPU to measure products on. */
    readonly wallTimes: RatioOfMedians;
    readonly equivalents: RatioOfMedians | null;
    readonly aMs: number;
    readonly bMs: number;
  };
  /** One timed load of the points of a case, as `setting` says; an MSM over them was right. */
  readonly loading: {
    readonly case: string;
    readonly n: number;
    readonly setting: string;
    readonly repetition: number;
    readonly wallMs: number;
  };
  /** What the loads of a case came to in one way. */
  readonly loaded: {
    readonly case: string;
    readonly n: number;
    readonly setting: string;
    /** The way that it is compared with, and its ratio to that. */
    readonly beside: string;
    readonly ratio: RatioOfMedians;
    readonly medianMs: number;
    /** Of a point, by the steps of its programs. */
    readonly products: number;
    /** Of the library's own product, median of those measured between the repetitions; null in G2. */
    readonly productsPerSecond: number | null;
    /** What it is meant to take at most; null where nothing was said. */
    readonly allowedMs: number | null;
  };
  /** One pass of `load` through its jobs, with so many callers; every result was right. */
  readonly load: {
    readonly mix: Mix;
    readonly concurrency: number;
    /** What calls do for each other: all that there is, or without something. */
    readonly sharing: string;
    readonly repetition: number;
    readonly jobs: number;
    readonly wallMs: number;
    readonly jobsPerSecond: number;
    /** From a call to its result. */
    readonly p50Ms: number;
    readonly p95Ms: number;
    /** Calls that were computed with others. */
    readonly merged: number;
    /** In which the GPU computed. */
    readonly gpuMs: number;
    /** Of all calls together. */
    readonly waitedMs: number;
    /** Of the time until the last result was computed, what the GPU had no work in; null where not all was the GPU’s. */
    readonly idleShare: number | null;
    /** Scratch of the engine: the most so far, what `plan` says of the largest job, and what it may have. */
    readonly peakBytes: number;
    readonly promisedBytes: number;
    readonly budgetBytes: number;
    /** Buffers that were given back on the device. */
    readonly freesPerSecond: number;
  };
  /** The wall of a pass with so many callers ÷ that with one; null where one was not asked for. */
  readonly inflation: {
    readonly concurrency: number;
    readonly ratio: RatioOfMedians | null;
  };
  /** The wall of a pass without one way of sharing ÷ that with all. */
  readonly gain: {
    readonly concurrency: number;
    readonly without: string;
    readonly ratio: RatioOfMedians;
  };
  /** When each of the jobs of one pass was where, in milliseconds since the first call. */
  readonly waterfall: {
    readonly concurrency: number;
    readonly jobs: readonly (JobSpans & { readonly n: number })[];
  };
  /** Small sums over the same points: one after the other, and all at once. */
  readonly together: {
    readonly repetition: number;
    readonly jobs: number;
    readonly singleMs: number;
    readonly togetherMs: number;
    /** Of those at once, how many were computed with others. */
    readonly merged: number;
  };
  /** Interactive calls, one at a time: alone, and with others in the background. */
  readonly interactive: {
    readonly n: number;
    readonly calls: number;
    readonly backgroundN: number;
    readonly backgroundDone: number;
    /** The longest submit in the background. */
    readonly submitMs: number;
    readonly aloneP50Ms: number;
    readonly aloneP95Ms: number;
    readonly busyP50Ms: number;
    readonly busyP95Ms: number;
  };
  /** One timed MSM of several threads, the rows of whose buckets got to them as `setting` says; it was right. */
  readonly share: {
    readonly case: string;
    readonly n: number;
    /** What was computed, and on what. */
    readonly work: string;
    readonly setting: string;
    readonly repetition: number;
    readonly wallMs: number;
    /** That took part. */
    readonly workers: number;
    /** Rows of a chunk. */
    readonly chunk: number;
  };
  /** What those of a work came to in one way. */
  readonly shared: {
    readonly case: string;
    readonly n: number;
    readonly work: string;
    readonly setting: string;
    readonly medianMs: number;
    /** To equal shares. */
    readonly ratio: RatioOfMedians;
    readonly leastWorkers: number;
    readonly mostWorkers: number;
    readonly chunk: number;
  };
  /** The first large MSM of a new engine, and one that has all its workers; both were right. */
  readonly 'first-call': {
    readonly n: number;
    /** The most workers that the engine might have. */
    readonly permitted: number;
    readonly repetition: number;
    readonly firstMs: number;
    /** That took part. */
    readonly firstWorkers: number;
    readonly warmMs: number;
    readonly warmWorkers: number;
  };
  /** Workers that were started at once, without an engine: when the first and the last of them said that they were ready. */
  readonly ready: {
    readonly workers: number;
    readonly repetition: number;
    readonly firstMs: number;
    readonly lastMs: number;
  };
  /** MSMs that are too small for workers, of an engine that might have so many. */
  readonly 'few-points': {
    readonly n: number;
    readonly permitted: number;
    readonly calls: number;
    readonly medianMs: number;
    /** To the engine that might have the fewest. */
    readonly ratio: RatioOfMedians;
    readonly mostWorkers: number;
  };
  /** What a thread more takes of main memory. */
  readonly resident: {
    readonly of: BareThread | 'worker after a call' | 'worker idle again';
    /** At a time. */
    readonly threads: number;
    readonly round: number;
    readonly bytesEach: number;
  };
  /** One call of a trace by one routing; its answer was right. */
  readonly replayed: TraceCall & {
    /** Its place in the trace. */
    readonly call: number;
    readonly routing: Routing;
    readonly medianMs: number;
    /** What computed it the last time, and what had been expected of that. */
    readonly on: RunRecord['on'];
    readonly gpuShare: number;
    readonly predicted: Prediction | null;
  };
  /** One Groth16 proof, which was verified. */
  readonly proof: {
    readonly logn: number;
    readonly constraints: number;
    readonly side: Side;
    /** The first of a side, which loads what it keeps; before and after the library was there; or one of either in turn. */
    readonly when: 'first' | 'by itself' | 'in turns';
    readonly repetition: number;
    readonly ms: number;
    /** What of it MSMs took. */
    readonly msmMs: number;
    /** The most memory of the process meanwhile; null if unknown. */
    readonly peakBytes: number | null;
  };
  /** The verdict over all runs of one case with one placement. */
  readonly case: {
    readonly case: string;
    /** Null on the CPU, which has no walker. */
    readonly placement: Placement | null;
    readonly runs: number;
    /** Every run gave the answer of the oracles. */
    readonly agrees: boolean;
    readonly onCurve: boolean;
    /** Every run gave the same bytes. */
    readonly identical: boolean;
    readonly medianMs: number | null;
    readonly error: string | null;
  };
  /** One setting that calibrate tried; null: it computed wrongly, or not at all. */
  readonly trial: CalibrationTrial;
  readonly calibrated: {
    /** The knobs that leave their defaults. */
    readonly tuning: Partial<Tuning>;
    /** The same, as in the URL. */
    readonly query: string;
    readonly tookMs: number;
    readonly compileMs: number;
    /** Whether the browser has kept it. */
    readonly remembered: boolean;
  };
  /** What the device does at its best: operations a second, bytes for a copy. */
  readonly peak: {
    readonly operation: string;
    readonly perSecond: number;
  };
  /** One operation of the field in one way. */
  readonly field: FieldBenchRow;
  /** Numbers inverted in batches that share an inversion. */
  readonly batch: FieldBatchRow;
  /** What belongs together of the targets: what was measured, and what is met. */
  readonly target: {
    readonly name: string;
    readonly findings: readonly Finding[];
    readonly measured: unknown;
  };
  /** What was left out, and why. */
  readonly skipped: {
    readonly variant: string;
    readonly why: string;
  };
  readonly end: {
    readonly status: 'done' | 'failed';
    readonly error: string | null;
    readonly seconds: number;
    readonly medians: readonly { readonly case: string; readonly setting: string; readonly medianMs: number }[];
  };
}

export type RowEvent = keyof Rows;
export type RowOf<Event extends RowEvent> = Rows[Event] & { readonly event: Event };
export type Row = { [Event in RowEvent]: RowOf<Event> }[RowEvent];

/** A row as it is posted and stored. */
export type StampedRow = Row & { readonly runId: string; readonly at: string };

/** Those of one kind. */
export const rowsOf = <Event extends RowEvent>(rows: readonly StampedRow[], event: Event) =>
  rows.filter((row): row is Extract<StampedRow, { event: Event }> => row.event === event);

/** Whether all runs of a case gave the one right answer. */
export const passed = (row: RowOf<'case'>): boolean => row.agrees && row.onCurve && row.identical && row.error === null;
