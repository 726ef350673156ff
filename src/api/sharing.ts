import type { MsmErrorCode } from '../errors.js';
import type { Priority } from './calls.js';

/** What is needed of a worker: a `Worker` of a page or of another worker, or one of `node:worker_threads`. */
export interface ComputeWorker {
  /** Structured clones, as every worker takes them. */
  postMessage(message: unknown): void;
  /** Ends it, whatever it does. What it answers is not looked at. */
  terminate(): unknown;
}

/** How much may wait for its turn. */
export interface QueueLimits {
  /** Calls. Default: no limit. */
  readonly calls?: number;
  /** Bytes of points and scalars that are held for them. Default: no limit. */
  readonly bytes?: number;
}

/** What an engine has done so far, and what waits. */
export interface EngineStats {
  /** Calls that wait for their turn. */
  readonly waiting: number;
  /** Bytes of points and scalars that are held for these. */
  readonly waitingBytes: number;
  /** Calls that are under way: one that is computed, and one that is made ready meanwhile; one more for each kind that is more urgent. */
  readonly running: number;
  /** Calls that came to their end as they should. */
  readonly done: number;
  /** Calls that rejected once they waited or ran. */
  readonly failed: number;
  /** Calls that were refused with `overloaded`. */
  readonly refused: number;
  /** Calls that were computed as part of another one. */
  readonly merged: number;
  /** Milliseconds that calls waited for their turn, in all. */
  readonly waitedMs: number;
  /** Milliseconds in which a call was under way. */
  readonly busyMs: number;
  /** Of these, those in which the GPU had work of an MSM that was the GPU's alone. */
  readonly gpuMs: number;
  /** Results that were computed again, as the GPU had not done what it was told. */
  readonly retries: number;
  /** Buffers of scratch that were given back on the device, by all who share it. */
  readonly frees: number;
}

/** How the calls of an engine share the device and the machine with each other. What pays is on by default; no result depends on it. */
export interface Sharing {
  /** Make the next call ready, and hand it to the GPU, while the GPU computes one. Default true; false: one call after the other. */
  readonly overlap?: boolean;
  /** Compute small sums over the same bases that wait together in one submit, where that takes those that wait no longer in all. Default true. */
  readonly merge?: boolean;
  /** Keep scratch for the next call. Default true; false: all of it is destroyed after each. */
  readonly keep?: boolean;
  /** Workers of the CPU at most while the GPU has work. Default: a quarter of the threads that run at a time here. */
  readonly sidePool?: number;
  /** Have workers keep to `sidePool` in the middle of a sum, too: those beyond it wait before their next part while the GPU has work. Default false. */
  readonly throttle?: boolean;
  /**
   * Returns true while work of your own should have the memory and the cores: an NTT, a hash over a large buffer. Workers
   * keep to `sidePool` then, as while the GPU has work; with `throttle` in the middle of a sum, too. Asked before each sum,
   * and with `throttle` between its chunks; keep it quick (reading a flag). Default: none.
   */
  readonly yieldWhile?: () => boolean;
}

/** Something that happened to a call of an engine, as `onEvent` is told it. */
export interface EngineEvent {
  /**
   * It began to wait; began; came to its end; or was refused, as too much waits already. One that need not wait is not `queued`. In between: the GPU was
   * given the last of its work (`submitted`), and what that came to was read (`computed`), what follows on the CPU is folding. A call that is computed in
   * several parts is told of each, and of what is done again; one that the GPU has no part in of none.
   */
  readonly event: 'queued' | 'started' | 'submitted' | 'computed' | 'ended' | 'refused';
  /** The number of the call, counted from 0. */
  readonly call: number;
  /** The method. */
  readonly kind: 'loadBases' | 'loadScalars' | 'msm' | 'msmBatch' | 'warmup';
  /** As it was asked for. */
  readonly priority: Priority;
  /** Bytes of points and scalars that it brought. */
  readonly bytes: number;
  /** When, by `performance.now()`. */
  readonly at: number;
  /** Of `started`: how long it waited. Of `ended`: how long it took since. */
  readonly ms: number | null;
  /** Why it was refused or failed; `other` is what code of the caller's threw. */
  readonly error: MsmErrorCode | 'other' | null;
}
