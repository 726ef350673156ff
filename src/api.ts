/// <reference lib="esnext.disposable" preserve="true" />
import type { MsmErrorCode } from './errors.js';

declare global {
  // TypeScript before 6 has no WebGPU. Those who have other types of it (DOM, @webgpu/types) get nothing new by these.
  interface GPUDevice {
    label: string;
  }
  interface GPU {}
}

/** `Uint8Array<ArrayBuffer>`, which TypeScript before 5.7 has no type parameter for. */
export type OwnBytes = ReturnType<Uint8ArrayConstructor['of']>;

/** c0 + c1·u, an element of the field of p² elements that G2 has its coordinates in; u² is the curve's `nonResidue`. */
export interface Fp2 {
  /** In [0, p), not in Montgomery form. */
  readonly c0: bigint;
  /** In [0, p), not in Montgomery form. */
  readonly c1: bigint;
}

/** What a coordinate is: a number on curves over F_p, as G1 is; a pair over F_p², as G2 is. */
export type Coordinate = bigint | Fp2;

/**
 * A point of the curve in affine coordinates: `AffinePoint` of G1, `AffinePoint<Fp2>` of G2. At infinity `x` and `y` are zero and carry no meaning.
 */
export interface AffinePoint<Of extends Coordinate = bigint> {
  /** Numbers in [0, p), not in Montgomery form. */
  readonly x: Of;
  /** Numbers in [0, p), not in Montgomery form. */
  readonly y: Of;
  /** Whether this is the neutral element. */
  readonly infinity: boolean;
}

/**
 * Bytes that lie in pages, as those of ffjavascript's BigBuffer do, or anywhere else. They are read at the call, 16 MiB or less at a time, so that
 * there is never a second copy of more than that.
 */
export interface PagedBytes {
  /** How many bytes there are in all. */
  readonly byteLength: number;
  /** The bytes [from, to), as a `Uint8Array` or another view of exactly that many. */
  slice(from: number, to: number): ArrayBufferView;
}

/**
 * Bytes, wherever they are: a view of a buffer (`Uint8Array`, `DataView`, `BigUint64Array`, Node's `Buffer` …), of which those count that it sees; a
 * whole `ArrayBuffer` or `SharedArrayBuffer`; or pages. What the elements of a view are does not matter.
 */
export type BytesLike = ArrayBufferView | ArrayBufferLike | PagedBytes;

/** Encodings of points that not every curve has; README's table says which has which, and what they are. */
export type SpecialEncoding =
  | 'eip196'
  | 'eip2537'
  | 'zcash'
  | 'zcash-compressed'
  | 'ark'
  | 'ark-compressed'
  | 'gnark'
  | 'gnark-compressed'
  | 'aztec'
  | 'aztec-compressed';

/**
 * How bytes are points. On every curve: x‖y in as many bytes as README's table says for its field, little-endian (`le`) or big-endian (`be`), infinity as
 * zeros; `le-montgomery`: the same little-endian, numbers times 2^256 where they have 32 bytes, 2^384 where they have 48. In G2 a coordinate is two such
 * numbers, c0 before c1. The others are those of other software. Of compressed points y is computed on the GPU.
 */
export type PointEncoding = 'le' | 'be' | 'le-montgomery' | SpecialEncoding;

/** How 32 bytes are a scalar: little-endian, big-endian, or little-endian and times 2^256 modulo the order. */
export type ScalarEncoding = 'le' | 'be' | 'le-montgomery';

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

/** What `onProgress` is told: `done` of `total` submits of the MSM (or slices of the bases) have been computed. */
export interface Progress {
  /** What is under way: `loadBases`, or an MSM. */
  readonly phase: 'load' | 'msm';
  /** Submits or slices that are through, from 0 to `total`. */
  readonly done: number;
  /** Submits or slices in all; known from the first call on. */
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

/** Bytes of GPU memory that the engine holds, counted from its real allocations. */
export interface MemoryUse {
  /** Resident bases. */
  readonly bases: number;
  /** Scalars of `loadScalars`. */
  readonly scalars: number;
  /** Everything else: streams, buckets, partial sums, staging. */
  readonly scratch: number;
  /** The largest value that `scratch` ever had. */
  readonly peak: number;
}

/** The adapter that a device came from, as far as the browser tells. */
export interface AdapterDescription {
  /** Such as `nvidia`; empty where the browser does not tell. */
  readonly vendor: string;
  /** A family of GPUs, such as `ampere`; may be empty. */
  readonly architecture: string;
  /** The vendor's number of the device; may be empty. */
  readonly device: string;
  /** The driver's name of it; may be empty. */
  readonly description: string;
  /** A CPU that plays GPU (SwiftShader, llvmpipe, WARP): right, and slow. */
  readonly software: boolean;
}

/** GPU time of one stage, summed over its dispatches; the fold, which runs on the CPU, is named `fold (CPU)`. */
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
export interface HostWalls {
  /** Until its work was submitted: looking at scalars, planning, compiling what is new, uploading, recording. */
  readonly encodeMs: number;
  /** From there until the GPU was done: until the result could be mapped, or the next submit be made. */
  readonly submitToResultMs: number;
  /** From there until the result is returned: copying it out, checking it, folding it on the CPU. */
  readonly readBackMs: number;
}

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
  /**
   * A debug mode: checks between the stages, on the GPU, that what one left is what the next may rely on, and rejects with
   * `internal` naming stage, bucket and task if not. Slower, and takes more scratch. Default false. What checks is a module of its own, which
   * `createMsmEngine({ checks })` takes.
   */
  readonly checks: boolean;
}

/** What looks after the stages, for `Tuning.checks`: `stageChecks` of `webgpu-msm/checks`, which the package has apart, as few programs want it. */
export interface StageChecks {
  /** The module that it is from. */
  readonly from: 'webgpu-msm/checks';
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
  readonly walls: HostWalls | null;
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
   * Per-stage GPU times, which `timeline` sums to, and that of the fold; null where the device has no `timestamp-query`, or times that
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

/** What is needed of a worker: a `Worker` of a page or of another worker, or one of `node:worker_threads`. */
export interface ComputeWorker {
  /** Structured clones, as every worker takes them. */
  postMessage(message: unknown): void;
  /** Ends it, whatever it does. What it answers is not looked at. */
  terminate(): unknown;
}

/** Points that live on the GPU, converted and validated, ready to be multiplied. Made by `engine.loadBases`. */
export interface Bases {
  /** How many points there are. */
  readonly length: number;
  /** GPU memory that the points take. */
  readonly byteLength: number;
  /** Frees the GPU memory. Later use of the handle is refused with code `destroyed`; calling it twice is harmless. */
  destroy(): void;
  /** `destroy`, for `using`. */
  [Symbol.dispose](): void;
}

/** What an engine's self-test found on its device: an MSM of points that are hard on arithmetic, whose answer the CPU knows. */
export interface SelfTest {
  /** How products are computed since: as was right to the last bit. null: nothing was, and calls that need the GPU reject with `internal`. */
  readonly product: Tuning['fieldProduct'] | null;
  /** What was wrong with those that were to be taken; null if nothing was. */
  readonly failed: string | null;
  /** Milliseconds that it took: hardly more than compiling, where the pipelines were not there yet. */
  readonly ms: number;
}

/** Scalars that several MSMs share, of one engine or of several. Made by `engine.loadScalars`. */
export interface Scalars {
  /** How many there are. */
  readonly length: number;
  /** GPU memory that they take; 0 where they are in main memory alone. */
  readonly byteLength: number;
  /**
   * Some of them in a row, not copied. They end with the handle that they are from; to destroy them ends nothing but them.
   *
   * @param from index of the first. Default 0
   * @param to index behind the last. Default `length`
   * @throws MsmError `bad-argument`, `destroyed`
   */
  subarray(from?: number, to?: number): Scalars;
  /** Frees them. Later use of the handle is refused with code `destroyed`, and calls that were made before go on; calling it twice is harmless. */
  destroy(): void;
  /** `destroy`, for `using`. */
  [Symbol.dispose](): void;
}

/** How much may wait for its turn. */
export interface QueueLimits {
  /** Calls. Default: no limit. */
  readonly calls?: number;
  /** Bytes of points and scalars that are held for them. Default: no limit. */
  readonly bytes?: number;
}

/** What a call would take, as `MsmEngine.plan` says before anything runs. */
export interface MsmPlan {
  /**
   * GPU memory beside the bases, at its peak, if the GPU computes it, from the first base on; with what verifies it, where the engine has `verify`; a lost
   * device and `checks` aside. 0 where there is no GPU.
   */
  readonly bytes: number;
  /** How often work would be handed to the GPU, without what verifies it. */
  readonly submits: number;
  /** What it is expected to take by now; null where there is no choice who computes it, or nothing to compute. */
  readonly predicted: Prediction | null;
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

/** How long a pipeline took to compile. */
export interface CompileTime {
  /** The kernel. */
  readonly name: string;
  /** Milliseconds from the request until it was there; several are compiled at a time. After `warmup` its first dispatch is in it. */
  readonly ms: number;
}

/** Computes Σ s_i·P_i on one GPU device: `MsmEngine` in G1, `MsmEngine<Fp2>` in G2. Made by `createMsmEngine`. */
export interface MsmEngine<Of extends Coordinate = bigint> {
  /**
   * Uploads points, converts them to Montgomery form and checks, on the GPU, that each is on the curve.
   *
   * @param points either bytes, x‖y for each point, little-endian and canonical, infinity as all zeros
   *   (64 bytes a point for BN254; in G2 c0 before c1, and 128), or affine points
   * @throws MsmError `bad-argument` (a wrong length, a coordinate ≥ p; names the index), `not-on-curve` and, if asked for,
   *   `not-in-subgroup` (name the index), `out-of-memory`, `device-lost`, `destroyed`, `aborted`
   */
  loadBases(points: BytesLike | readonly AffinePoint<Of>[], options?: LoadBasesOptions): Promise<Bases>;

  /**
   * Keeps scalars for several MSMs, as those of a proof's witness: they are copied and looked at once, and stay on the GPU. `msm` and `msmBatch` of every
   * engine in a group of the same order take them (of G1 and G2, say); one on another device uploads them for each call. They are loaded again by
   * themselves after the loss of a device.
   *
   * @param scalars as for `msm`
   * @throws MsmError `bad-argument`, `destroyed`, `aborted`, `out-of-memory`, `device-lost`
   */
  loadScalars(scalars: BytesLike | readonly bigint[], options?: LoadScalarsOptions): Promise<Scalars>;

  /** The same, with the sum as bytes: a point in the encoding that `result` names. */
  msm(
    bases: Bases,
    scalars: BytesLike | readonly bigint[] | Scalars,
    options: MsmOptions<PointEncoding> & { readonly result: PointEncoding },
  ): Promise<OwnBytes>;

  /**
   * Computes Σ scalars[i] · bases[offset + i].
   *
   * @param bases from `loadBases` of the same engine
   * @param scalars either bytes, 32 little-endian bytes each, any 256-bit value (it is reduced modulo the group order),
   *   or bigints in [0, 2^256), or what `loadScalars` made. Their number is n, at most `bases.length - offset`; n = 0 gives infinity.
   * @throws MsmError `bad-argument`, `destroyed`, `aborted`, `out-of-memory`, `device-lost`, `internal`
   */
  msm(bases: Bases, scalars: BytesLike | readonly bigint[] | Scalars, options?: MsmOptions): Promise<AffinePoint<Of>>;

  /** The same, with each sum as bytes: a point in the encoding that `result` names. */
  msmBatch(
    bases: Bases,
    scalars: readonly (BytesLike | readonly bigint[] | Scalars)[],
    options: MsmBatchOptions<PointEncoding> & { readonly result: PointEncoding },
  ): Promise<OwnBytes[]>;

  /**
   * Computes Σ scalars[v][i] · bases[offsets[v] + i] for every vector v, all in one submit and with one read-back (more only where
   * the memory budget, or the time that a submit may take, asks for it). For short vectors that is much faster than one call each.
   *
   * @param scalars vectors as for `msm`, of any lengths; a vector without scalars gives infinity
   * @returns the sums, in the order of the vectors
   * @throws MsmError as `msm`; the message names the vector
   */
  msmBatch(
    bases: Bases,
    scalars: readonly (BytesLike | readonly bigint[] | Scalars)[],
    options?: MsmBatchOptions,
  ): Promise<AffinePoint<Of>[]>;

  /**
   * What an MSM of n scalars over these bases would take, or a batch of several; scalars that are full-length and not zero.
   *
   * @throws MsmError `bad-argument`, `destroyed`
   */
  plan(bases: Bases, n: number | readonly number[]): Promise<MsmPlan>;

  /**
   * Compiles what `loadBases` (without `precompute`) and MSMs of n scalars need, so that the first of them does not wait for it. Once is
   * enough for all sizes, and for all engines on a device while one of them is there. Each kernel is also dispatched once, on nothing, as some drivers compile only then.
   *
   * @throws MsmError `bad-argument`, `destroyed`, `device-lost`, `internal`
   */
  warmup(n: number): Promise<void>;

  /**
   * Gives back what is only kept for later calls: scratch on the GPU, after the work that uses it, and workers that have nothing to do. The next call makes
   * what it needs.
   *
   * @throws MsmError `destroyed`
   */
  trim(): Promise<void>;
  /** Bytes of GPU memory that the engine holds now, and the most that it held. */
  readonly memory: MemoryUse;
  /** What was done so far, and what waits. */
  readonly stats: EngineStats;
  /** What the last successful `msm` or `msmBatch` did; null before the first one, and it stays as it was through n = 0. */
  readonly lastRun: RunRecord | null;
  /**
   * What the self-test found, which comes before the first MSM on the GPU, or in `warmup`: the very pipelines that will be used compute what is known.
   * If they are wrong, the engine takes other products for as long as it has the device, and says so here and in `lastRun`. null before it, and where it was switched off.
   */
  readonly selfTest: SelfTest | null;
  /** What computes: the GPU, and the CPU where small MSMs are its, or the CPU alone where there is no WebGPU. */
  readonly backends: readonly ('gpu' | 'cpu')[];
  /** The adapter that this engine computes on; without a GPU its `vendor` is `cpu`. */
  readonly adapter: AdapterDescription;
  /** What was compiled on its device so far, by this engine and others, and how long each took. */
  readonly pipelines: readonly CompileTime[];

  /** Frees all that the engine made: buffers, pipelines that no other engine on the device uses, the bases, and the device unless the caller brought it. */
  destroy(): void;
  /** `destroy`, for `using`. */
  [Symbol.dispose](): void;
}

/** One setting that was tried. */
export interface CalibrationTrial {
  /** The knobs that were set. */
  readonly tuning: Partial<Tuning>;
  /** Median of the MSMs that were timed, in milliseconds of GPU time where the device has `timestamp-query`; null if it computed wrongly or not at all. */
  readonly ms: number | null;
  /**
   * The defaults in the same turns. Medians of different rounds are no comparison, as a machine slows down
   * and speeds up between them. Absent where `ms` is null. Where the defaults do not work, the first setting that does stands for them.
   */
  readonly defaults?: {
    /** Their median, in milliseconds. */
    readonly ms: number;
    /** The setting's median ÷ theirs: below 1 it is faster. */
    readonly ratio: number;
    /** The lower end of the 95 % interval of the ratio. */
    readonly low: number;
    /** Its upper end. */
    readonly high: number;
  };
}

/** What `calibrate` of `webgpu-msm/calibrate` found; pass it to `createMsmEngine({ device, calibration })`. */
export interface Calibration {
  /** The knobs that are better set otherwise than by default on this device. */
  readonly tuning: Partial<Tuning>;
  /** All that was tried, in the order in which it was. */
  readonly trials: readonly CalibrationTrial[];
  /** The name of the curve that it was measured on. */
  readonly curve: string;
  /** The adapter that it was measured on. */
  readonly adapter: AdapterDescription;
  /** The version of this library. */
  readonly version: string;
  /** Whether it was remembered, and nothing measured. */
  readonly remembered: boolean;
  /** Milliseconds that it took. */
  readonly tookMs: number;
  /** How many of them went to compiling shaders. */
  readonly compileMs: number;
}
