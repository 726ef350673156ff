/**
 * The knobs of one MSM. Every one has a default chosen from n and the device; a caller sets some of them with
 * `createMsmEngine({ tuning })`. No knob changes the result, only what it costs.
 */
export interface Tuning {
  /** c, the width of a scalar window in bits, 2 to 16. A window has 2^(c-1) buckets. */
  readonly windowBits: number;
  /** Where the walker keeps the prefix products of its shared inversion. */
  readonly walkerPrefixMemory: 'private' | 'workgroup';
  /**
   * Threads in a workgroup of the walker, 1 to 256. Clamped to the device's limit, and with `workgroup` prefixes to what
   * fits its workgroup memory; `lastRun.tuning` says what was used.
   */
  readonly walkerThreadsPerWorkgroup: number;
  /**
   * S, the tasks that one walker thread advances together, 1 to 64; they share one field inversion per step. Clamped to what fits the
   * private memory that WGSL guarantees, which matters above 48 slots on fields of 381 bits.
   */
  readonly walkerSlots: number;
  /** The most tasks that one walk is cut into, 1 to 2^20. */
  readonly walkerTasks: number;
  /** The planner makes no more tasks than gives each of them this many entries, 1 to 2^16. */
  readonly walkerEntriesPerTask: number;
  /** A walk of few tasks fills fewer slots a thread rather than run on fewer threads than this, 1 to 2^20. */
  readonly walkerLeastThreads: number;
  /**
   * The most additions that one submit may do, 2^10 to 2^30; beyond it the windows are done in groups and the scalars in chunks.
   * Bounds how long a submit holds the GPU. Default: what the device does in 100 ms as measured by the engine's earlier runs, 2^18
   * before; no bound on software adapters, which hold up nobody's screen.
   */
  readonly additionsPerSubmit: number;
  /** Threads in a workgroup of the sort, 1 to 64. */
  readonly sortThreadsPerWorkgroup: number;
  /** Entries that one thread of the sort ranks in sequence, 1 to 256. */
  readonly sortEntriesPerThread: number;
  /**
   * How products are computed: of signed limbs, carried through floats, for devices that are slow at shifts; of unsigned ones of 13 bits, whose
   * products all are of 24; or of bytes, four at a time, which needs the WGSL language feature `packed_4x8_integer_dot_product`, and is slow where
   * the chip has no such instruction. `signed` needs a device that rounds f32 sums to the nearest; what then is wrong is refused, never returned.
   * One product for all that an engine does on a device. Default: `signed` on SwiftShader, else by the chip (docs/chips.md); `unsigned` where that
   * is not known.
   */
  readonly fieldProduct: 'signed' | 'unsigned' | 'dot4';
  /**
   * MSMs of at most so many scalars are computed on the CPU, and all others on the GPU, 0 to 2^16; 0 leaves all of them to the GPU. Zeros do not count
   * where they are the most; a vector more of a batch counts as 16. Needs the points in main memory (`retainBases`). Results are the same.
   * Default null: by what either is expected to take (`RunRecord.predicted`).
   */
  readonly cpuBelow: number | null;
  /** How what the CPU computes gets to its threads: `dynamic`, whoever is done draws the next chunk; `static`, all have equal shares. Default `dynamic`. */
  readonly cpuDistribution: 'dynamic' | 'static';
  /** Rows of 64 buckets in a chunk that a thread draws, 0 to 256; 0, the default, is by the size of the problem. */
  readonly cpuChunk: number;
}
