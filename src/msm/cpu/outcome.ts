import type { RunRecord } from '../../api/run-record.js';
import type { AffinePoint, Coordinate } from '../../api/values.js';

/** Result of a call on the CPU. */
export interface CpuOutcome {
  /** One sum per vector. */
  readonly sums: AffinePoint<Coordinate>[];
  /** Window width c in bits, of the vector with the most digits. */
  readonly windowBits: number;
  /** Windows of a scalar, of the same vector. */
  readonly windows: number;
  /** Digits that were not zero, of all vectors. */
  readonly entries: number;
  readonly arithmetic: Exclude<RunRecord['arithmetic'], null>;
  /** Number of workers that took part. */
  readonly workers: number;
  /** Reason why no worker took part in a sum large enough for some; null if there is none. */
  readonly noWorkers: string | null;
  /** Rows per chunk of the last round; 0 on one thread. */
  readonly chunk: number;
  /** Why workers were lost; null if none was. */
  readonly lost: string | null;
  /** Time in which other sums went first, in milliseconds. */
  readonly waitedMs: number;
}
