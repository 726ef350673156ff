/** Rows of `cpu-pool`. */
import type { RatioOfMedians } from '../../../../src/calibrate/statistics.js';
import type { BareThread } from '../../threads/bare-threads.js';

declare module '../../rows.js' {
  interface Rows {
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
  }
}
