import type { MsmErrorCode } from '../errors.js';
import type { Priority } from './calls.js';

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

/** Counts of an engine's calls since it was made, the calls that wait, and its calibration. */
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
  /**
   * State of `calibrate: 'first-use'`. `remembered`: the engine uses a calibration that was
   * remembered. `measuring`: the device is measured now. `measured`: it was measured on this page,
   * for engines that are created from now on. `failed`: measuring failed, or its module was not
   * found; it is not tried again on this page. `none`: nothing was asked for or measured so far.
   */
  readonly calibration: 'none' | 'remembered' | 'measuring' | 'measured' | 'failed';
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
