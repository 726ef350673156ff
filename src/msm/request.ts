/** A multi-scalar multiplication as backends take it, and what they return. */
import type { RunRecord } from '../api/run-record.js';
import type { AffinePoint, Coordinate } from '../api/values.js';
import type { LoadedBases } from './inputs/loaded-bases.js';
import type { ScalarVector, SurveyedScalars } from './inputs/scalar-vectors.js';

/** Vectors of scalars over the same bases. */
export interface MsmRequest {
  readonly bases: LoadedBases;
  readonly vectors: readonly ScalarVector[];
  /** The vectors after a look at their scalars, in the same order. */
  readonly surveyed: readonly SurveyedScalars[];
  /** Scalars of all vectors, as they were given. */
  readonly n: number;
  /** Probability that the result is verified; undefined: the engine's. */
  readonly verify: number | undefined;
  /** Returns how many workers of the CPU may be at work now; absent: all. */
  readonly workersAllowed?: (() => number) | undefined;
}

/** The sums of a request, one for each vector. */
export interface MsmDone {
  readonly sums: readonly AffinePoint<Coordinate>[];
  readonly record: RunRecord;
  /** Milliseconds that it took, without waiting for other calls. */
  readonly ms: number;
}
