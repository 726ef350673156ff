/** A device: its adapter, its memory, its self-test, and the knobs that are tuned for it. */

/**
 * Bytes of GPU memory that the engine holds, counted from its allocations. A device keeps up to 32
 * MiB of staging memory more for large uploads, until an engine on it is trimmed or destroyed.
 */
export interface MemoryUse {
  /** Resident bases. */
  readonly bases: number;
  /** Scalars of `loadScalars`. */
  readonly scalars: number;
  /** Everything else: streams, buckets, partial sums, staging. */
  readonly scratch: number;
  /** Largest value that `scratch` has had. */
  readonly peak: number;
}

/** Adapter of a device, as far as the browser discloses it. */
export interface AdapterDescription {
  /** Vendor such as `nvidia`; empty if the browser does not disclose it. */
  readonly vendor: string;
  /** Family of GPUs such as `ampere`; may be empty. */
  readonly architecture: string;
  /** Vendor's number of the device; may be empty. */
  readonly device: string;
  /** Name that the driver gives the device; may be empty. */
  readonly description: string;
  /**
   * True for a software GPU (SwiftShader, llvmpipe, WARP): correct but slow; timings do not reflect
   * real GPUs.
   */
  readonly software: boolean;
}

/**
 * Result of an engine's self-test: the device computed an MSM of points that are hard on the
 * arithmetic, and the result was compared with the known answer.
 */
export interface SelfTest {
  /**
   * Field product that passed the self-test bit by bit and is used since then. null if none passed:
   * calls that need the GPU then reject with `internal`.
   */
  readonly product: Tuning['fieldProduct'] | null;
  /** Description of the failures of field products that were tried first; null if none failed. */
  readonly failed: string | null;
  /**
   * Duration of the self-test, in milliseconds. If the pipelines were not compiled yet, most of it
   * is the time to compile them.
   */
  readonly ms: number;
}

/** Time to compile one pipeline. */
export interface CompileTime {
  /** Name of the kernel. */
  readonly name: string;
  /**
   * Milliseconds from the request to the compiled pipeline; several pipelines compile at the same
   * time. After `warmup` it includes the first dispatch.
   */
  readonly ms: number;
}

/**
 * Knobs of one MSM. Each has a default for n and the device. Set some of them with
 * `createMsmEngine({ tuning })`. A knob changes speed or memory and never the result.
 */
export interface Tuning {
  /**
   * c, the width of a scalar window in bits, 2 to 16. A window has 2^(c-1) buckets: a wider one
   * takes fewer additions for more buckets.
   *
   * @defaultValue by n, the lengths of the scalars and `additionsPerSubmit`
   */
  readonly windowBits: number;
  /**
   * Coordinates of the sums in the walk. `affine`: additions share an inversion by Montgomery's
   * trick, with several tasks (`walkerSlots`) in a thread. `xyzz`: extended coordinates, which need
   * no inversion; a thread has one task, and sums take twice the memory. G2 is affine by default:
   * extended sums of pairs do not fit registers.
   */
  readonly walkerCoordinates: 'affine' | 'xyzz';
  /**
   * Memory in which the walk keeps the prefix products of its batch inversion, with affine
   * coordinates.
   */
  readonly walkerPrefixMemory: 'private' | 'workgroup';
  /**
   * Threads in a workgroup of the walk, 1 to 256. It is clamped to the limits of the device, and
   * with `workgroup` prefixes to its workgroup memory; `GpuRun.tuning` has the value that was
   * used.
   */
  readonly walkerThreadsPerWorkgroup: number;
  /**
   * S, the tasks that one thread of the walk advances together, 1 to 64. They share one field
   * inversion per step. It is clamped to the private memory that WGSL guarantees, which matters
   * above 48 slots on fields of 381 bits, and to 1 with `xyzz` coordinates.
   */
  readonly walkerSlots: number;
  /** Most tasks of one walk, 1 to 2^20. */
  readonly walkerTasks: number;
  /**
   * Fewest entries of a task, 1 to 2^16: the planner makes fewer tasks rather than smaller ones.
   */
  readonly walkerEntriesPerTask: number;
  /**
   * Fewest threads of a walk, 1 to 2^20: a walk of few tasks fills fewer slots of each thread
   * rather than running on fewer threads.
   */
  readonly walkerLeastThreads: number;
  /**
   * Logarithm to base 2, 1 to 6, of the factor by which each walk over partial sums leaves fewer
   * sums than the one before. A small one makes more walks, each with more tasks of fewer
   * additions.
   */
  readonly combineBits: number;
  /**
   * Most additions of one submit, 2^10 to 2^30. A larger MSM is computed in groups of windows and
   * chunks of scalars. The knob bounds the time for which a submit occupies the GPU, by default by
   * the speed that earlier runs of the engine measured. Software adapters draw no screen, so their
   * submits have no bound.
   */
  readonly additionsPerSubmit: number;
  /**
   * Threads in a workgroup of the sort, 1 to 128; at most 64 are taken where a thread has more than
   * 16 entries.
   */
  readonly sortThreadsPerWorkgroup: number;
  /**
   * Entries that one thread of the sort ranks one after the other, 1 to 256. Up to 16 are held in
   * registers, and the workgroup orders them in its memory before it writes them; more are read
   * twice.
   */
  readonly sortEntriesPerThread: number;
  /**
   * Method of field products. `unsigned`: limbs of 13 bits, with products of at most 24 bits. `dot4`: four
   * products of bytes at a time; it needs the WGSL language feature
   * `packed_4x8_integer_dot_product`, is slow on chips without such an instruction, and is refused
   * on software adapters for primes above 256 bits and in G2. `fma`: limbs of 24 bits with floats
   * for the high halves of their products, for chips with slow multiplications of integers; exact
   * with a fused `fma` and without. An engine uses one product for all its
   * work on a device: by default the fastest one of the chip (docs/reference/chips.md).
   */
  readonly fieldProduct: 'unsigned' | 'dot4' | 'fma';
  /**
   * Largest number of scalars of an MSM that the CPU computes, 0 to 2^16; the GPU computes all
   * larger ones, and with 0 all of them. Zeros do not count where they are the majority. Each
   * further vector of a batch counts as 16 scalars. It needs the points in main memory
   * (`retainBases`). null: the backend that is expected to be faster (`RunRecord.predicted`). With
   * `backend: 'gpu'` the default is 0.
   */
  readonly cpuBelow: number | null;
  /**
   * Distribution of work to CPU threads. `dynamic`: a thread that is done draws the next chunk.
   * `static`: all threads have equal shares.
   */
  readonly cpuDistribution: 'dynamic' | 'static';
  /**
   * Rows of 64 buckets in a chunk, 0 to 256. 0: with `dynamic` chosen by the size of the problem,
   * with `static` one chunk for each thread. With `static` the chunks of a thread are strided.
   */
  readonly cpuChunk: number;
  /**
   * Arithmetic of the CPU, with the names of `CpuRun.arithmetic`. `auto`: the fastest that the
   * platform has. Another one is for measurements; an MSM rejects with `bad-argument` where the
   * platform does not have it.
   */
  readonly cpuArithmetic: 'auto' | 'wasm-fma' | 'wasm-wide' | 'wasm-simd' | 'wasm' | 'bigint';
}

/** Knobs to set by hand; undefined counts as not set. */
export type TuningOptions = { readonly [Name in keyof Tuning]?: Tuning[Name] | undefined };

/** One setting that was measured. */
export interface CalibrationTrial {
  /** Knobs that were set. */
  readonly tuning: Partial<Tuning>;
  /**
   * Median time of the measured MSMs, in milliseconds: GPU time where the device has
   * `timestamp-query`. null if the setting failed or gave a wrong result.
   */
  readonly ms: number | null;
  /**
   * The defaults, measured in alternation with this setting: a machine slows down and speeds up, so
   * medians of different rounds do not compare. Absent where `ms` is null. If the defaults do not
   * work, the first setting that works takes their place.
   */
  readonly defaults?:
    | {
        /** Median of the defaults, in milliseconds. */
        readonly ms: number;
        /** Median of the setting divided by that of the defaults: below 1 the setting is faster. */
        readonly ratio: number;
        /** Lower end of the 95 % interval of the ratio. */
        readonly low: number;
        /** Upper end of the 95 % interval of the ratio. */
        readonly high: number;
      }
    | undefined;
}

/**
 * A store of calibrations: texts by name. Errors of both methods are ignored; the calibration is
 * then measured again.
 */
export interface CalibrationStore {
  /** Returns the text of a name, or null if there is none. */
  get(name: string): Promise<string | null>;
  /** Sets the text of a name. */
  set(name: string, text: string): Promise<void>;
}

/**
 * Result of `calibrate` of `webgpu-msm/calibrate`; pass it to
 * `createMsmEngine({ device, calibration })`.
 */
export interface Calibration {
  /** Knobs for which another value than the default is faster on this device. */
  readonly tuning: Partial<Tuning>;
  /** All settings that were measured, in order. */
  readonly trials: readonly CalibrationTrial[];
  /** Name of the curve that was measured. */
  readonly curve: string;
  /** Adapter that was measured. */
  readonly adapter: AdapterDescription;
  /** Version of this library. */
  readonly version: string;
  /** True if this is a stored calibration and nothing was measured. */
  readonly remembered: boolean;
  /** Duration of the calibration, in milliseconds. */
  readonly tookMs: number;
  /** Part of `tookMs` in which shaders were compiled, in milliseconds. */
  readonly compileMs: number;
}
