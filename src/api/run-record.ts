import type { AdapterDescription } from './device.js';
import type { Tuning } from './tuning.js';

/**
 * GPU time of one stage, summed over its dispatches. The windows are combined on the CPU; the name of
 * that phase is `combine windows (CPU)`.
 */
export interface PhaseTime {
  /** The stage. */
  readonly name: string;
  /** Milliseconds. */
  readonly ms: number;
}

/** One pass on the GPU: what a stage does at a stretch. */
export interface TimelineEntry {
  /** The stage, as in `phases`. */
  readonly name: string;
  /** When it began, in milliseconds by the GPU's clock since the first pass of the call began. */
  readonly startMs: number;
  /** How long it took, in milliseconds. Devices may round times (Chromium to 0.1 ms): a short pass may take 0. */
  readonly ms: number;
  /** The submit that it was in, counted from 0 over the call. */
  readonly submit: number;
}

/**
 * What the wall time of a call went to on the host, in milliseconds by the host's clock: summed over its submits, and over its jobs where it
 * took more than one. No moment counts twice, and what the caller's `onProgress` takes not at all.
 */
export interface HostTimes {
  /** Until its work was submitted: looking at scalars, planning, compiling what is new, uploading, recording. */
  readonly encodeMs: number;
  /** From there until the GPU was done: until the result could be mapped, or the next submit be made. */
  readonly submitToResultMs: number;
  /** From there until the result is returned: copying it out, checking it, combining windows on the CPU. */
  readonly readBackMs: number;
}

/** What a call is expected to take. */
export interface Prediction {
  /** Milliseconds on the GPU. */
  readonly gpuMs: number;
  /** Milliseconds on the CPU, with its workers. */
  readonly cpuMs: number;
  /** Milliseconds divided between both at the same time. null: they would stand in each other's way. */
  readonly bothMs: number | null;
}

/**
 * What the last successful `engine.msm` or `engine.msmBatch` did. Where the result was verified, `wallMs` and `walls` are of all that was done,
 * and all else of the evaluation that gave the result.
 */
export interface RunRecord {
  /**
   * Where it was computed: on the GPU, on the CPU, with no tasks, dispatches and submits, or on both at the same time. What has nothing but zeros is the
   * CPU's.
   */
  readonly on: 'gpu' | 'cpu' | 'both';
  /** Of the scalars, how many were the GPU's, from 0 to 1. */
  readonly gpuShare: number;
  /** What the call was expected to take, from the adapter's name and from what earlier calls of the engine took. null where there was no choice. */
  readonly predicted: Prediction | null;
  /**
   * How the CPU computed: in WebAssembly, with vectors of 128 bits or without; or on BigInts, many times slower, where a content security policy forbids
   * WebAssembly (`wasm-unsafe-eval` allows it) or the platform has none. null where the GPU computed.
   */
  readonly arithmetic: 'wasm-simd' | 'wasm' | 'bigint' | null;
  /** Workers that took part, beside the thread that the engine is in; 0 where the GPU computed. */
  readonly workers: number;
  /**
   * Why no worker took part though the sum was worth some: they cannot be started, or died. null where some took part, are being started, or where none
   * would help; `maxWorkers: 0` is no reason either. `createMsmEngine({ onWarning })` is told the same.
   */
  readonly noWorkers: string | null;
  /** Scalars, of all vectors. */
  readonly n: number;
  /** 1, but for `msmBatch`. */
  readonly vectors: number;
  /** c; of a batch whose vectors differ in length, that of the longest ones. */
  readonly windowBits: number;
  /** Digits of a scalar; of a batch whose vectors differ in length, those of the longest ones. */
  readonly windows: number;
  /** Tasks of the largest walk. */
  readonly tasks: number;
  /** Digits that were not zero, each of which is an addition; at most n · windows. */
  readonly entries: number;
  /** Dispatches on the GPU, in all submits. */
  readonly dispatches: number;
  /** How often work was handed to the GPU: once, unless memory or time called for more. */
  readonly submits: number;
  /** From the call to the result, in milliseconds: also what earlier calls of the engine and `onProgress` took meanwhile. */
  readonly wallMs: number;
  /**
   * What of `wallMs` went to what; known without `timestamp-query`, too. They add up to `wallMs`, less what earlier calls of the engine, for
   * which it waited, and `onProgress` took. null where it was computed on the CPU, or on both.
   */
  readonly hostTimes: HostTimes | null;
  /**
   * Why work was done again: the message of the error that the call would have rejected with, had the GPU not got a second chance; or what became of
   * workers that died, whose chunks others computed. null where none was.
   */
  readonly retried: string | null;
  /**
   * Why products are not computed as by default, or as was asked for: what they got wrong in a self-test on this device. null where they are. See
   * `MsmEngine.selfTest`.
   */
  readonly fallback: string | null;
  /** Whether the result was verified. What was computed on the CPU needs no second evaluation, and counts as verified. */
  readonly verified: boolean;
  /**
   * Per-stage GPU times, which `timeline` sums to, and the time of combining windows; null where the device has no `timestamp-query`, or times that
   * cannot be: their sum is more than `walls.submitToResultMs`, by more than a quarter and 20 ms.
   */
  readonly phases: readonly PhaseTime[] | null;
  /** The passes on the GPU, in the order in which they ran; null where the GPU has no times, or none that can be, or did nothing. */
  readonly timeline: readonly TimelineEntry[] | null;
  /** The knobs as they were used. */
  readonly tuning: Tuning;
  /** What it ran on. */
  readonly adapter: AdapterDescription;
}
