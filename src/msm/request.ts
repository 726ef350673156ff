/** The request to a backend for multi-scalar multiplications, and its result. */
import type { RunRecord } from '../api/run-record.js';
import type { AffinePoint, Coordinate } from '../api/values.js';
import type { LoadedBases } from './inputs/loaded-bases.js';
import type { ScalarVector, SurveyedScalars } from './inputs/scalar-vectors.js';

/** Vectors of scalars over the same bases. */
export interface MsmRequest {
  readonly bases: LoadedBases;
  readonly vectors: readonly ScalarVector[];
  /** The surveys of the vectors, in the same order. */
  readonly surveyed: readonly SurveyedScalars[];
  /** Number of scalars of all vectors, zeros included. */
  readonly n: number;
  /** Probability that the result is verified; undefined: the engine's default. */
  readonly verify: number | undefined;
  /** Returns how many CPU workers may compute now; absent: all. */
  readonly workersAllowed?: (() => number) | undefined;
}

/** The sums of a request, one for each vector. */
export interface MsmDone {
  readonly sums: readonly AffinePoint<Coordinate>[];
  readonly record: RunRecord;
  /** Time that it took, in ms, without waiting for other calls. */
  readonly ms: number;
}
