/** Rows of `load`. */
import type { RatioOfMedians } from '../../../../src/calibrate/statistics.js';
import type { Mix } from './jobs.js';
import type { JobSpans } from './statistics.js';

declare module '../../rows.js' {
  interface Rows {
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
      /** Largest scratch of the engine so far. */
      readonly peakBytes: number;
      /** Largest scratch at an event of this pass; absent in old rows. */
      readonly scratchBytes?: number;
      /**
       * Planned scratch of as many of the largest jobs as there are callers, at most the budget; in
       * old rows of the largest job alone.
       */
      readonly promisedBytes: number;
      readonly budgetBytes: number;
      /** Buffers freed on the device. */
      readonly freesPerSecond: number;
    };
    /** Time of a pass at one concurrency ÷ that at concurrency 1; null if 1 was not measured. */
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
  }
}
