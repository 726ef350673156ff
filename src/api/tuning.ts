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
   * with `workgroup` prefixes to its workgroup memory; `lastRun.tuning` has the value that was
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
   * Arithmetic of the CPU, with the names of `RunRecord.arithmetic`. `auto`: the fastest that the
   * platform has. Another one is for measurements; an MSM rejects with `bad-argument` where the
   * platform does not have it.
   */
  readonly cpuArithmetic: 'auto' | 'wasm-fma' | 'wasm-wide' | 'wasm-simd' | 'wasm' | 'bigint';
}

/** Knobs to set by hand; undefined counts as not set. */
export type TuningOptions = { readonly [Name in keyof Tuning]?: Tuning[Name] | undefined };
