/** Calls of an engine: their options and turns, how they share the device, their events and counts. */

import type { MsmErrorCode } from '../errors.js';
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
  /**
   * Complete submits, from 0 to `total`; complete scalars where GPU and CPU share the call; points of
   * a load, and scalars of a sum, where bases are in several buffers.
   */
  readonly done: number;
  /** Number of all of them; constant during a call. */
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

/**
 * Part of a worker that the engine uses: a `Worker` of a page or of another worker, or one of
 * `node:worker_threads`.
 */
export interface ComputeWorker {
  /** Sends a structured clone to the worker. */
  postMessage(message: unknown): void;
  /** Ends the worker, also while it computes. The return value is ignored. */
  terminate(): unknown;
}

/** Limits on the calls that wait for their turn. */
export interface QueueLimits {
  /**
   * Number of calls.
   *
   * @defaultValue no limit
   */
  readonly calls?: number | undefined;
  /**
   * Bytes of points and scalars held for them.
   *
   * @defaultValue no limit
   */
  readonly bytes?: number | undefined;
}

/** Counts of an engine's calls since it was made, and the calls that wait. */
export interface EngineStats {
  /** Calls that wait for their turn. */
  readonly waiting: number;
  /** Bytes of points and scalars held for the waiting calls. */
  readonly waitingBytes: number;
  /**
   * Calls under way: one that computes, one that is prepared meanwhile, and one more for each
   * higher priority.
   */
  readonly running: number;
  /** Calls that succeeded. */
  readonly done: number;
  /** Calls that rejected after they had been queued or started. */
  readonly failed: number;
  /** Calls that were refused with `overloaded`. */
  readonly refused: number;
  /** Calls that were computed together with others. */
  readonly merged: number;
  /** Milliseconds that calls waited for their turn, summed over all calls. */
  readonly waitedMs: number;
  /** Milliseconds in which at least one call was under way. */
  readonly busyMs: number;
  /** Milliseconds of `busyMs` in which the GPU had work of an MSM that it computed alone. */
  readonly gpuMs: number;
  /** Results that were computed again, because the GPU had not executed its commands correctly. */
  readonly retries: number;
  /** Scratch buffers that were freed on the device, by all engines that share it. */
  readonly frees: number;
}

/**
 * Settings for how the calls of an engine share the device and the machine. The defaults are the
 * fastest known settings. No result depends on them.
 */
export interface Sharing {
  /**
   * Prepares the next call and submits it while the GPU computes one. False: one call after the
   * other.
   *
   * @defaultValue `true`
   */
  readonly overlap?: boolean | undefined;
  /**
   * Computes small sums that wait together on the same bases in one submit, where the calls that
   * wait take no longer in all.
   *
   * @defaultValue `true`
   */
  readonly merge?: boolean | undefined;
  /**
   * Keeps scratch for the next call. False: all scratch is destroyed after each call.
   *
   * @defaultValue `true`
   */
  readonly keep?: boolean | undefined;
  /**
   * Limit on the CPU workers while the GPU has work of other calls of equal or higher priority. A
   * call that GPU and CPU share is not limited by its own part on the GPU.
   *
   * @defaultValue a quarter of the platform's hardware threads, rounded up
   */
  readonly sidePool?: number | undefined;
  /**
   * Applies `sidePool` also within a sum: while the GPU has work, the workers beyond the limit wait
   * before their next chunk. Point additions of the CPU are bound by arithmetic; they make room for
   * phases that read and write much memory: uploads, and decompose and sort on a GPU that shares
   * its memory with the CPU.
   *
   * @defaultValue `false`
   */
  readonly throttle?: boolean | undefined;
  /**
   * Returns true while work of yours should have the memory and the cores, such as an NTT, or a
   * hash over a large buffer. Meanwhile workers keep to `sidePool`, as while the GPU has work; with
   * `throttle` also within a sum. It is called before each sum, and with `throttle` between chunks,
   * so it should be quick (read a flag). It works without a GPU as well.
   */
  readonly yieldWhile?: (() => boolean) | undefined;
}

/** Event of a call of an engine, for `onEvent`. */
export interface EngineEvent {
  /**
   * `queued`: the call began to wait; a call that starts at once has no such event. `started`: it
   * began. `submitted`: the last of its work was submitted to the GPU. `computed`: the result was
   * read back; the CPU combines the windows next. `ended`: the call succeeded or failed. `refused`:
   * too many calls or bytes wait already. A call that is computed in several jobs, or again after a
   * failure, has `submitted` and `computed` for each. A call without work for the GPU has neither.
   */
  readonly event: 'queued' | 'started' | 'submitted' | 'computed' | 'ended' | 'refused';
  /** Number of the call, from 0. */
  readonly call: number;
  /** Method that was called; `proof` is `prove` of a key. */
  readonly kind: 'loadBases' | 'loadScalars' | 'msm' | 'msmBatch' | 'proof' | 'warmup';
  /** Priority of the call. */
  readonly priority: Priority;
  /** Bytes of points and scalars that the call brought, of a proof those of its witness. */
  readonly bytes: number;
  /** Time of the event, as of `performance.now()`. */
  readonly at: number;
  /**
   * For `started`, milliseconds that the call waited; for `ended`, milliseconds since then. null
   * for other events.
   */
  readonly ms: number | null;
  /**
   * Code of the error with which the call was refused or failed; `other` for an error of the
   * caller's code.
   */
  readonly error: MsmErrorCode | 'other' | null;
}
