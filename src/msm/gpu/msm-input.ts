/** Input and result of a multiplication on the GPU. */
import type { AffinePoint, Coordinate } from '../../api/values.js';
import type { LoadedBases } from '../inputs/loaded-bases.js';
import type { ScalarStore } from '../inputs/scalar-store.js';
import type { ScalarVector, SurveyedScalars } from '../inputs/scalar-vectors.js';
import type { Plan } from '../plan/planner.js';
import type { Knobs } from '../plan/tuning.js';
import type { MsmDone, MsmRequest } from '../request.js';

/** Input of a multiplication on the GPU. */
export interface MsmInput {
  readonly bases: LoadedBases;
  readonly vectors: readonly ScalarVector[];
  /** Probability that the result is verified. */
  readonly verify: number;
  /** Stores of scalars that the call uses from the device. */
  readonly placed: readonly ScalarStore[];
  /** Knobs instead of the setup's; null: the setup's. */
  readonly knobs: Knobs | null;
  /** The request, for the CPU to compute; null for a self-test. */
  readonly request: MsmRequest | null;
  /** The vectors after a look at their scalars; null: not looked at yet. */
  readonly surveyed: SurveyedVectors | null;
}

/** Surveyed vectors, and whether zero scalars were left out. */
export interface SurveyedVectors {
  readonly vectors: readonly SurveyedScalars[];
  readonly picks: boolean;
}

/** Sums of a multiplication, with facts from the GPU or with the record of the CPU. */
export interface MsmResult {
  readonly sums: readonly AffinePoint<Coordinate>[];
  readonly gpu: GpuFacts | null;
  readonly cpu: MsmDone | null;
}

/** Facts about a multiplication on the GPU. */
export interface GpuFacts {
  readonly plan: Plan;
  readonly entries: number;
  readonly combineMs: number;
  readonly isVerified: boolean;
}
