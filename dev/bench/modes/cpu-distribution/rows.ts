/** Rows of `cpu-distribution`. */
import type { RatioOfMedians } from '../../../../src/calibrate/statistics.js';

declare module '../../rows.js' {
  interface Rows {
    /**
     * One timed MSM on several threads, with bucket rows shared as `setting` names; it was correct.
     */
    readonly share: {
      readonly case: string;
      readonly n: number;
      /** Name of the work: its scalars, and whether a worker is slowed. */
      readonly work: string;
      readonly setting: string;
      /** Workers that the engine may have; absent in old rows. */
      readonly permitted?: number;
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
      readonly permitted?: number;
      readonly medianMs: number;
      /** Ratio to equal shares. */
      readonly ratio: RatioOfMedians;
      readonly leastWorkers: number;
      readonly mostWorkers: number;
      readonly chunk: number;
    };
    /** Work on threads that this machine does not have, by the cost of its chunks on one. */
    readonly simulated: {
      readonly case: string;
      readonly n: number;
      readonly work: string;
      readonly setting: string;
      readonly threads: number;
      readonly ms: number;
      /** Ratio to contiguous equal shares. */
      readonly ratio: number;
    };
  }
}
