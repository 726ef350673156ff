import type { AdapterDescription, Tuning } from './device.js';

/**
 * GPU time of one stage, summed over its dispatches. `combine windows (CPU)` is the combination of
 * the windows, which runs on the CPU.
 */
export interface PhaseTime {
  /** Name of the stage. */
  readonly name: string;
  /** Milliseconds. */
  readonly ms: number;
}

/** One pass on the GPU: consecutive dispatches of one stage. */
export interface TimelineEntry {
  /** The stage, as in `phases`. */
  readonly name: string;
  /**
   * Start of the pass, in milliseconds of the GPU's clock after the start of the call's first pass.
   */
  readonly startMs: number;
  /**
   * How long it took, in milliseconds. Devices may round times (Chromium to 0.1 ms): a short pass
   * may take 0.
   */
  readonly ms: number;
  /** Index of the pass's submit in the call, from 0. */
  readonly submit: number;
}

/**
 * Breakdown of the wall time of a call by phase, in milliseconds of the host's clock: summed over
 * its submits, and over its jobs where it has several. The phases do not overlap. The time of the
 * caller's `onProgress` is not included.
 */
export interface HostTimes {
  /**
   * Time until the work was submitted: surveying scalars, planning, compiling new pipelines,
   * uploading, recording.
   */
  readonly encodeMs: number;
  /**
   * Time from there until the GPU was done: until the result could be mapped, or the next submit
   * could be made.
   */
  readonly submitToResultMs: number;
  /**
   * Time from there until the result is returned: copying it, checking it, combining the windows on
   * the CPU.
   */
  readonly readBackMs: number;
}

/** Expected duration of a call. */
export interface Prediction {
  /** Milliseconds on the GPU. */
  readonly gpuMs: number;
  /** Milliseconds on the CPU, with its workers. */
  readonly cpuMs: number;
  /** Milliseconds if both share the call. null if sharing would slow both down. */
  readonly bothMs: number | null;
}

/** Facts about a call, whichever backend computed it. */
export interface RunFacts {
  /** Number of scalars, of all vectors. */
  readonly n: number;
  /** Number of vectors; 1 for `msm`. */
  readonly vectors: number;
  /**
   * c, the width of a window in bits; in a batch whose vectors differ in length, that of the
   * longest vectors.
   */
  readonly windowBits: number;
  /**
   * Digits of a scalar; in a batch whose vectors differ in length, those of the longest vectors.
   */
  readonly windows: number;
  /** Digits that are not zero, each of which takes an addition; at most n · windows. */
  readonly entries: number;
  /**
   * Milliseconds from the call to the result. This includes the time of earlier calls of the engine
   * for which the call waited, and that of `onProgress`.
   */
  readonly wallMs: number;
  /**
   * Reason why work was repeated: the message of the error with which the call would have rejected
   * without the repetition; or a message about workers that died, whose chunks others computed.
   * null if nothing was repeated.
   */
  readonly retried: string | null;
  /**
   * True if the result was verified. A result of the CPU needs no second evaluation, and counts as
   * verified.
   */
  readonly verified: boolean;
  /**
   * Expected duration of the call, from the adapter's name and from the durations of the engine's
   * earlier calls. null where only one backend could compute it.
   */
  readonly predicted: Prediction | null;
}

/** Report on what the GPU computed. */
export interface GpuRun extends RunFacts {
  /** The GPU computed the call. */
  readonly on: 'gpu';
  /** Tasks of the largest walk. */
  readonly tasks: number;
  /** Dispatches on the GPU, in all submits. */
  readonly dispatches: number;
  /**
   * Bytes of scalars, and of the tables that place them, that were uploaded to the GPU. Scalars and
   * vectors that are on the device already count nothing.
   */
  readonly uploadedBytes: number;
  /** Number of submits to the GPU: one, unless memory or time required more. */
  readonly submits: number;
  /**
   * Breakdown of `wallMs` by phase; available without `timestamp-query`. The phases add up to
   * `wallMs`, less the time of earlier calls of the engine for which the call waited, and less that
   * of `onProgress`. null where the call was divided between the backends, or between the buffers of
   * its bases.
   */
  readonly hostTimes: HostTimes | null;
  /**
   * Reason why another field product is used than the default or the requested one: the failure of
   * that one in a self-test on this device. null if the intended one is used. See
   * `MsmEngine.selfTest`.
   */
  readonly fallback: string | null;
  /**
   * GPU time of each stage, the sums of `timeline`, and the time to combine the windows. null where
   * `hostTimes` is null, if the device has no `timestamp-query`, or if its times are impossible:
   * their sum exceeds `hostTimes.submitToResultMs` by more than a quarter and 20 ms.
   */
  readonly phases: readonly PhaseTime[] | null;
  /**
   * Passes on the GPU, in the order in which they ran. null where `phases` is null.
   */
  readonly timeline: readonly TimelineEntry[] | null;
  /** Knobs of the call, with all defaults. */
  readonly tuning: Tuning;
  /** Adapter that computed. */
  readonly adapter: AdapterDescription;
}

/** Report on what the CPU computed. All-zero input is handled there. */
export interface CpuRun extends RunFacts {
  /** The CPU computed the call. */
  readonly on: 'cpu';
  /**
   * Arithmetic: WebAssembly with fused multiply-adds of floats (relaxed SIMD), with products of 128
   * bits (wide arithmetic), with integers in 128-bit SIMD, or with integers of 64 bits alone; or
   * BigInt, about ten times slower, where a content security policy forbids WebAssembly
   * (`wasm-unsafe-eval` allows it) or the platform has none.
   */
  readonly arithmetic: 'wasm-fma' | 'wasm-wide' | 'wasm-simd' | 'wasm' | 'bigint';
  /** Workers that took part, in addition to the thread of the engine. */
  readonly workers: number;
  /**
   * Reason why no worker took part though the sum was large enough for workers: they cannot be
   * started, or died, or WebAssembly is forbidden. null if some took part, are being started, or
   * would not help; `maxWorkers: 0` is not a reason either. `createMsmEngine({ onWarning })`
   * receives the same text.
   */
  readonly noWorkers: string | null;
  /** Rows of 64 buckets in the largest chunk that a thread was handed; 0 where none was cut. */
  readonly chunkRows: number;
  /** Milliseconds of the computation, without the time in which other sums went first. */
  readonly cpuMs: number;
}

/** Report on a call that the GPU and the CPU shared. */
export interface DividedRun extends RunFacts {
  /** Both computed the call at the same time. */
  readonly on: 'both';
  /** Fraction of the scalars that the GPU computed, above 0 and below 1. */
  readonly gpuShare: number;
  /**
   * The GPU's half: its counts are sums over its parts; `windowBits`, `windows`, `tasks` and `tuning`
   * are those of its largest part; `vectors` and `wallMs` are those of the call.
   */
  readonly gpu: GpuRun;
  /** The CPU's half, likewise. */
  readonly cpu: CpuRun;
}

/**
 * Report on the last successful `engine.msm` or `engine.msmBatch`: `on` says which backend computed
 * it. If the result was verified, `wallMs` and `hostTimes` include the verification; all other
 * values are those of the evaluation that gave the result.
 */
export type RunRecord = GpuRun | CpuRun | DividedRun;
