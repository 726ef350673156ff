import type { PointEncoding, ScalarEncoding } from './values.js';

/**
 * Urgency of a call. Among waiting calls the more urgent ones go first. A call that has waited long
 * enough (a `normal` one for 1 s, a `background` one for 10 s) goes before all calls that arrive
 * later. A call that is more urgent than all calls under way does not wait for any of them, and
 * runs between their submits. `interactive`: a user waits for the result. `background`: no user
 * does.
 */
export type Priority = 'interactive' | 'normal' | 'background';

/** Options that decide when a call has its turn. */
export interface TurnOptions {
  /**
   * Urgency of the call.
   *
   * @defaultValue `normal`
   */
  readonly priority?: Priority | undefined;
  /**
   * Milliseconds from now by which the call should have begun: it goes before calls that are due
   * later. Between the submits of another call only `priority` counts.
   *
   * @defaultValue by the priority alone
   */
  readonly deadline?: number | undefined;
}

/** Progress of a call: `done` of `total` submits are complete. */
export interface Progress {
  /** Name of the operation: `load`, `msm` or `vectors`. */
  readonly phase: string;
  /** Complete submits, from 0 to `total`; complete scalars where GPU and CPU share the call. */
  readonly done: number;
  /** Number of all submits, or of all scalars; constant during a call. */
  readonly total: number;
}

/** Options of `engine.loadBases`. */
export interface LoadBasesOptions extends TurnOptions {
  /** Name of the bases in GPU labels and error messages. */
  readonly label?: string | undefined;
  /**
   * Keeps m multiples of each point, 1 to 64, so that MSMs over these bases take fewer additions;
   * for bases that are used many times. The bases take up to m times the GPU memory (m · 64 bytes a
   * point for BN254). Loading takes about 250·(1 − 1/m) doublings a point, once. If fewer multiples
   * cover a scalar as well, only those are kept. Results are the same.
   * docs/reference/performance.md has measurements.
   *
   * @defaultValue `1`: the points only
   */
  readonly precompute?: number | undefined;
  /**
   * Encoding of the points; for bytes only.
   *
   * @defaultValue `le`
   */
  readonly encoding?: PointEncoding | undefined;
  /**
   * Checks that each point is in the subgroup of the curve's order, in addition to the check that
   * it is on the curve. `not-in-subgroup` names the first point that is not. The check takes no
   * time on curves that have no other points (docs/reference/curves.md).
   *
   * @defaultValue `false`
   */
  readonly checkSubgroup?: boolean | undefined;
  /**
   * Ends the call at once, with code `aborted`. The GPU finishes its current submit; the memory of
   * the call is freed after that.
   */
  readonly signal?: AbortSignal | undefined;
  /** Called when the work begins, and after each submit or chunk. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** Options of `engine.loadScalars`. */
export interface LoadScalarsOptions extends TurnOptions {
  /** Name of the scalars in GPU labels and error messages. */
  readonly label?: string | undefined;
  /**
   * Encoding of the scalars; for bytes only.
   *
   * @defaultValue `le`
   */
  readonly scalarEncoding?: ScalarEncoding | undefined;
  /** Ends the call at once, with code `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of `engine.msm`. */
export interface MsmOptions<Result extends 'affine' | PointEncoding = 'affine'> extends TurnOptions {
  /**
   * Index of the first base: scalar i multiplies base `offset + i`.
   *
   * @defaultValue `0`
   */
  readonly offset?: number | undefined;
  /**
   * Encoding of the scalars; for bytes only. The CPU takes one microsecond a scalar to decode the
   * Montgomery form.
   *
   * @defaultValue `le`
   */
  readonly scalarEncoding?: ScalarEncoding | undefined;
  /**
   * Form of the sum: a point, or bytes in an encoding of the curve.
   *
   * @defaultValue `affine`
   */
  readonly result?: Result | undefined;
  /**
   * Verifies the result: computes it again by another method, and compares; see
   * docs/explanation/correctness.md. A number from 0 to 1 is the probability of a verification.
   *
   * @defaultValue the option of the engine
   */
  readonly verify?: boolean | number | undefined;
  /**
   * Ends the call at once, with code `aborted`. The GPU finishes its current submit; the memory of
   * the call is freed after that.
   */
  readonly signal?: AbortSignal | undefined;
  /** Called when the work begins, and after each submit or chunk. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** Options of `engine.msmBatch`. */
export interface MsmBatchOptions<Result extends 'affine' | PointEncoding = 'affine'> extends TurnOptions {
  /**
   * One for each vector: scalar i of vector v multiplies base `offsets[v] + i`.
   *
   * @defaultValue all 0
   */
  readonly offsets?: readonly number[] | undefined;
  /**
   * Encoding of the scalars of all vectors; for bytes only.
   *
   * @defaultValue `le`
   */
  readonly scalarEncoding?: ScalarEncoding | undefined;
  /**
   * Form of each sum: a point, or bytes in an encoding of the curve.
   *
   * @defaultValue `affine`
   */
  readonly result?: Result | undefined;
  /**
   * Verifies the results: computes them again by another method, and compares; see
   * docs/explanation/correctness.md. A number from 0 to 1 is the probability of a verification.
   *
   * @defaultValue the option of the engine
   */
  readonly verify?: boolean | number | undefined;
  /**
   * Ends the call at once, with code `aborted`. The GPU finishes its current submit; the memory of
   * the call is freed after that.
   */
  readonly signal?: AbortSignal | undefined;
  /** Called when the work begins, and after each submit or chunk. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}
