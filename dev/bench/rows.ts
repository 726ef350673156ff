/**
 * Rows of a run: `window.msmBench.rows` holds them, the dev server stores them, and Node prints
 * them.
 */
import type { CalibrationTrial } from '../../src/api/calibration.js';
import type { AdapterDescription, CompileTime } from '../../src/api/device.js';
import type { HostTimes, PhaseTime, RunRecord, TimelineEntry } from '../../src/api/run-record.js';
import type { Tuning } from '../../src/api/tuning.js';
import type { RatioOfMedians } from '../../src/calibrate/statistics.js';
import type { BatchRow as FieldBatchRow, FieldBenchRow } from '../field-bench/run.js';
import type { Environment } from './environment.js';
import type { Mix } from './modes/load/jobs.js';
import type { JobSpans } from './modes/load/statistics.js';
import type { Side } from './modes/proofs/prover.js';
import type { System } from './modes/proofs/system.js';
import type { Finding } from './modes/targets/findings.js';
import type { Mode } from './modes.js';
import type { BareThread } from './threads/bare-threads.js';

/** Paths that rows are posted to, below the address of the page. */
export const rowPaths = ['progress', 'results'] as const;
export type RowPath = (typeof rowPaths)[number];

export type Placement = 'private' | 'workgroup';

/** Content of each event. */
interface Rows {
  /** Begins a run, with all that is needed to repeat it. */
  readonly init: {
    readonly mode: Mode;
    /** The knobs, as in the URL. */
    readonly query: string;
    readonly adapter: AdapterDescription;
    readonly environment: Environment;
    readonly seed: number;
    /** Names of the settings. */
    readonly settings: readonly string[];
    /** Milliseconds until the device was open. */
    readonly createMs: number;
  };
  /** The first MSM of a size, including compilation and allocation. */
  readonly 'warm-up': {
    readonly case: string;
    readonly setting: string;
    readonly loadMs: number;
    readonly wallMs: number | null;
    readonly agrees: boolean;
    /** Knobs that the engine used. */
    readonly tuning: Tuning | null;
    /** Knobs that were limited by the device: `walkertpb: 256 asked, 16 used`. */
    readonly clamped: readonly string[];
    readonly windows: number;
    /** Non-zero digits, which are the points to add. */
    readonly entries: number;
    readonly dispatches: number;
    readonly submits: number;
    /** Pipelines compiled on the device so far, with their compile times in milliseconds. */
    readonly pipelines: readonly CompileTime[];
    /** Bytes of GPU memory. */
    readonly basesBytes: number;
    readonly scratchBytes: number;
  };
  /** One timed MSM. A wrong result has no time. */
  readonly repetition: {
    readonly case: string;
    readonly n: number;
    readonly setting: string;
    /** Backend that computed it; small MSMs may run on the CPU (`cpubelow`). */
    readonly on: RunRecord['on'];
    readonly placement: Placement;
    readonly repetition: number;
    readonly agrees: boolean;
    readonly wallMs: number | null;
    /**
     * Wall time × rate of the plain 13-bit product, measured before and after. It is the cost as
     * far as that rate also held in between.
     */
    readonly productEquivalents: number | null;
    /** Sum of the phases on the GPU; null without timestamps. */
    readonly gpuMs: number | null;
    /** Times to encode, from submit to result, and to read back. */
    readonly hostTimes: HostTimes | null;
    readonly phases: readonly PhaseTime[] | null;
  };
  /** One MSM with its passes in execution order. */
  readonly trace: Omit<Rows['repetition'], 'productEquivalents'> & {
    /** Null without timestamps. */
    readonly timeline: readonly TimelineEntry[] | null;
  };
  /** One MSM of a peer, interleaved with those of this library. */
  readonly peer: {
    readonly peer: string;
    readonly case: string;
    readonly n: number;
    readonly repetition: number;
    readonly agrees: boolean;
    readonly wallMs: number | null;
  };
  /**
   * The roofline of a case: its additions at six products each, at the rate of the product alone.
   */
  readonly bound: {
    readonly case: string;
    readonly n: number;
    readonly setting: string;
    readonly additions: number;
    readonly products: number;
    /**
     * Rate of the library's own product: the median of the measurements between the repetitions.
     */
    readonly productsPerSecond: number;
    readonly ms: number;
  };
  /** Comparison of A and B over the pairs of a case. */
  readonly comparison: {
    readonly case: string;
    readonly n: number;
    readonly a: string;
    readonly b: string;
    readonly pairs: number;
    /**
     * B ÷ A of the wall times, and of the product equivalents; null without a GPU to measure
     * products on.
     */
    readonly wallTimes: RatioOfMedians;
    readonly equivalents: RatioOfMedians | null;
    readonly aMs: number;
    readonly bMs: number;
  };
  /**
   * One timed load of the points of a case, in the way `setting` names; an MSM over them was
   * correct.
   */
  readonly loading: {
    readonly case: string;
    readonly n: number;
    readonly setting: string;
    readonly repetition: number;
    readonly wallMs: number;
  };
  /** Summary of the loads of a case in one way. */
  readonly loaded: {
    readonly case: string;
    readonly n: number;
    readonly setting: string;
    /** The way it is compared with, and the ratio to that. */
    readonly beside: string;
    readonly ratio: RatioOfMedians;
    readonly medianMs: number;
    /** Products a point, from the steps of its programs. */
    readonly products: number;
    /** Rate of the library's own product: the median between the repetitions; null in G2. */
    readonly productsPerSecond: number | null;
    /** Largest time that meets the target; null without a target. */
    readonly allowedMs: number | null;
  };
  /** One pass of `load` through its jobs at one concurrency; every result was correct. */
  readonly load: {
    readonly mix: Mix;
    readonly concurrency: number;
    /** Kinds of sharing between calls: all of them, or all but one. */
    readonly sharing: string;
    readonly repetition: number;
    readonly jobs: number;
    readonly wallMs: number;
    readonly jobsPerSecond: number;
    /** Latency from call to result. */
    readonly p50Ms: number;
    readonly p95Ms: number;
    /** Calls that were coalesced with others. */
    readonly merged: number;
    /** Milliseconds in which the GPU computed. */
    readonly gpuMs: number;
    /** Milliseconds that all calls together waited. */
    readonly waitedMs: number;
    /**
     * Share of the time until the last result in which the GPU had no work; null unless the GPU
     * computed all.
     */
    readonly idleShare: number | null;
    /** Scratch of the engine: the peak so far, the plan of the largest job, and the budget. */
    readonly peakBytes: number;
    readonly promisedBytes: number;
    readonly budgetBytes: number;
    /** Buffers freed on the device. */
    readonly freesPerSecond: number;
  };
  /** Wall time of a pass at one concurrency ÷ that at concurrency 1; null if 1 was not measured. */
  readonly inflation: {
    readonly concurrency: number;
    readonly ratio: RatioOfMedians | null;
  };
  /** Wall time of a pass without one kind of sharing ÷ that with all. */
  readonly gain: {
    readonly concurrency: number;
    readonly without: string;
    readonly ratio: RatioOfMedians;
  };
  /** Timeline of each job of one pass, in milliseconds since the first call. */
  readonly waterfall: {
    readonly concurrency: number;
    readonly jobs: readonly (JobSpans & { readonly n: number })[];
  };
  /** Small sums over the same points: in sequence, and all at once. */
  readonly together: {
    readonly repetition: number;
    readonly jobs: number;
    readonly singleMs: number;
    readonly togetherMs: number;
    /** Number of the concurrent sums that were coalesced. */
    readonly merged: number;
  };
  /** Interactive calls, one at a time: without and with background calls. */
  readonly interactive: {
    readonly n: number;
    readonly calls: number;
    readonly backgroundN: number;
    readonly backgroundDone: number;
    /** Longest submit of the background calls. */
    readonly submitMs: number;
    readonly aloneP50Ms: number;
    readonly aloneP95Ms: number;
    readonly busyP50Ms: number;
    readonly busyP95Ms: number;
  };
  /**
   * One timed MSM on several threads, with bucket rows shared as `setting` names; it was correct.
   */
  readonly share: {
    readonly case: string;
    readonly n: number;
    /** Name of the work: its scalars, and whether a worker is slowed. */
    readonly work: string;
    readonly setting: string;
    readonly repetition: number;
    readonly wallMs: number;
    /** Workers that took part. */
    readonly workers: number;
    /** Bucket rows of a chunk. */
    readonly chunk: number;
  };
  /** Summary of a work with one way of sharing. */
  readonly shared: {
    readonly case: string;
    readonly n: number;
    readonly work: string;
    readonly setting: string;
    readonly medianMs: number;
    /** Ratio to equal shares. */
    readonly ratio: RatioOfMedians;
    readonly leastWorkers: number;
    readonly mostWorkers: number;
    readonly chunk: number;
  };
  /** The first large MSM of a new engine, and one with all workers running; both were correct. */
  readonly 'first-call': {
    readonly n: number;
    /** Largest number of workers of the engine. */
    readonly permitted: number;
    readonly repetition: number;
    readonly firstMs: number;
    /** Workers that took part. */
    readonly firstWorkers: number;
    readonly warmMs: number;
    readonly warmWorkers: number;
  };
  /** Workers started at once without an engine: when the first and the last reported ready. */
  readonly ready: {
    readonly workers: number;
    readonly repetition: number;
    readonly firstMs: number;
    readonly lastMs: number;
  };
  /** MSMs too small for workers, on an engine that may have `permitted` workers. */
  readonly 'few-points': {
    readonly n: number;
    readonly permitted: number;
    readonly calls: number;
    readonly medianMs: number;
    /** Ratio to the engine that may have the fewest. */
    readonly ratio: RatioOfMedians;
    readonly mostWorkers: number;
  };
  /** Main memory of one more thread. */
  readonly resident: {
    readonly of: BareThread | 'worker after a call' | 'worker idle again';
    /** Threads started at a time. */
    readonly threads: number;
    readonly round: number;
    readonly bytesEach: number;
  };
  /** One verified proof. */
  readonly proof: {
    /** Absent in old rows, which are of Groth16. */
    readonly system?: System;
    /** Logarithm of the size of the domain. */
    readonly logn: number;
    readonly constraints: number;
    readonly side: Side;
    /**
     * `first`: the first proof of a side, which loads what it keeps. `by itself`: before the
     * library is there, or with the library alone. `in turns`: both sides interleaved.
     */
    readonly when: 'first' | 'by itself' | 'in turns';
    readonly repetition: number;
    readonly ms: number;
    /** Milliseconds of the proof that MSMs took. */
    readonly msmMs: number;
    /** Peak memory of the process during the proof; null if unknown. */
    readonly peakBytes: number | null;
  };
  /** Verdict over all runs of one case with one placement. */
  readonly case: {
    readonly case: string;
    /** Null on the CPU, which has no walker. */
    readonly placement: Placement | null;
    readonly runs: number;
    /** True if every run gave the answer of the oracles. */
    readonly agrees: boolean;
    readonly onCurve: boolean;
    /** True if every run gave the same bytes. */
    readonly identical: boolean;
    readonly medianMs: number | null;
    readonly error: string | null;
  };
  /** One setting that calibrate tried; its time is null if it failed or computed wrongly. */
  readonly trial: CalibrationTrial;
  readonly calibrated: {
    /** Knobs that differ from their defaults. */
    readonly tuning: Partial<Tuning>;
    /** The tuning as URL parameters. */
    readonly query: string;
    readonly tookMs: number;
    readonly compileMs: number;
    /** True if the browser stored the tuning. */
    readonly remembered: boolean;
  };
  /** A measured peak of the device: operations a second, or bytes for a copy. */
  readonly peak: {
    readonly operation: string;
    readonly perSecond: number;
  };
  /** One field operation in one variant. */
  readonly field: FieldBenchRow;
  /** Numbers inverted in batches that share an inversion. */
  readonly batch: FieldBatchRow;
  /** One row of the targets: what was measured, and the findings. */
  readonly target: {
    readonly name: string;
    readonly findings: readonly Finding[];
    readonly measured: unknown;
  };
  /** A variant that was skipped, and why. */
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

/** Returns the rows of one event. */
export const rowsOf = <Event extends RowEvent>(rows: readonly StampedRow[], event: Event) =>
  rows.filter((row): row is Extract<StampedRow, { event: Event }> => row.event === event);

/** Returns whether all runs of a case gave the one correct answer. */
export const passed = (row: RowOf<'case'>): boolean => row.agrees && row.onCurve && row.identical && row.error === null;
