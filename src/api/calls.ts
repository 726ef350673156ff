import type { PointEncoding, ScalarEncoding } from './values.js';

/**
 * How urgent a call is: among those that wait for their turn a more urgent one goes first, but what has waited for long enough (a second, `background` ten)
 * before those that come after that. What is more urgent than all that is under way waits for none of it, and goes between its submits.
 * `interactive`: somebody is waiting for it. `background`: nobody is.
 */
export type Priority = 'interactive' | 'normal' | 'background';

/** When a call has its turn, where others wait as well. */
export interface TurnOptions {
  /** Default `normal`. */
  readonly priority?: Priority;
  /**
   * Milliseconds after which the call wants to have begun at the latest: it goes before others whose turn would come later. Between the submits of one that
   * is under way `priority` alone counts.
   */
  readonly deadline?: number;
}

/** Progress of a call: `done` of `total` submits are through. */
export interface Progress {
  /** Name of the operation: `load` or `msm`. */
  readonly phase: string;
  /** Submits that are through, from 0 to `total`; scalars, where GPU and CPU share the call. */
  readonly done: number;
  /** Submits in all; the same from the first call on. */
  readonly total: number;
}

/** Options of `engine.loadBases`. */
export interface LoadBasesOptions extends TurnOptions {
  /** Shows up in GPU labels and error messages. */
  readonly label?: string;
  /**
   * Keep m multiples of each point, 1 to 64, so that MSMs over these bases take fewer additions: for bases that are used many times.
   * The bases take up to m times the GPU memory (m · 64 bytes a point for BN254), and loading them takes about 250·(1 − 1/m) doublings a
   * point once. Fewer than m are kept where those cover a scalar as well. Results are the same. Default 1: the points alone.
   * docs/performance.md says what it is worth.
   */
  readonly precompute?: number;
  /** What the bytes of the points are; for bytes only. Default `le`. */
  readonly encoding?: PointEncoding;
  /**
   * Check, on the GPU, that each point is in the group of the curve's order, and not only on the curve: `not-in-subgroup` names the first one that is
   * not. On a curve without other points it is nothing; docs/security.md says which have some, and what it takes. Default false.
   */
  readonly checkSubgroup?: boolean;
  /** Ends the call at once, with code `aborted`. The GPU finishes the submit that it has; what the call holds is freed then. */
  readonly signal?: AbortSignal;
  /** Called when the work begins, and with each submit or slice that is through. */
  onProgress?(progress: Progress): void;
}

/** Options of `engine.loadScalars`. */
export interface LoadScalarsOptions extends TurnOptions {
  /** Shows up in GPU labels and error messages. */
  readonly label?: string;
  /** What the bytes of the scalars are; for bytes only. Default `le`. */
  readonly scalarEncoding?: ScalarEncoding;
  /** Ends the call at once, with code `aborted`. */
  readonly signal?: AbortSignal;
}

/** Options of `engine.msm`. */
export interface MsmOptions<Result extends 'affine' | PointEncoding = 'affine'> extends TurnOptions {
  /** Index of the first base: scalar i multiplies base `offset + i`. Default 0. */
  readonly offset?: number;
  /** What the bytes of the scalars are; for bytes only. Default `le`. The Montgomery form takes a microsecond a scalar on the CPU. */
  readonly scalarEncoding?: ScalarEncoding;
  /** What the sum is given as: a point, or its bytes in an encoding of the curve's. Default `affine`. */
  readonly result?: Result;
  /**
   * Whether the result is verified: computed once more in another way, and compared; see docs/security.md. A number from 0 to 1 is the
   * probability of it. Default: that of the engine.
   */
  readonly verify?: boolean | number;
  /** Ends the call at once, with code `aborted`. The GPU finishes the submit that it has; what the call holds is freed then. */
  readonly signal?: AbortSignal;
  /** Called when the work begins, and with each submit or slice that is through. */
  onProgress?(progress: Progress): void;
}

/** Options of `engine.msmBatch`. */
export interface MsmBatchOptions<Result extends 'affine' | PointEncoding = 'affine'> extends TurnOptions {
  /** One for each vector: scalar i of vector v multiplies base `offsets[v] + i`. Default: all 0. */
  readonly offsets?: readonly number[];
  /** What the bytes of the scalars are, of all vectors; for bytes only. Default `le`. */
  readonly scalarEncoding?: ScalarEncoding;
  /** What each sum is given as: a point, or its bytes in an encoding of the curve's. Default `affine`. */
  readonly result?: Result;
  /**
   * Whether the result is verified: computed once more in another way, and compared; see docs/security.md. A number from 0 to 1 is the
   * probability of it. Default: that of the engine.
   */
  readonly verify?: boolean | number;
  /** Ends the call at once, with code `aborted`. The GPU finishes the submit that it has; what the call holds is freed then. */
  readonly signal?: AbortSignal;
  /** Called when the work begins, and with each submit or slice that is through. */
  onProgress?(progress: Progress): void;
}
