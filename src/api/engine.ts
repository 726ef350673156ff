/// <reference lib="esnext.disposable" preserve="true" />
import type { EngineStats, LoadBasesOptions, LoadScalarsOptions, MsmBatchOptions, MsmOptions } from './calls.js';
import type { AdapterDescription, CompileTime, MemoryUse, SelfTest } from './device.js';
import type { FieldVector } from './fields.js';
import type { Prediction, RunRecord } from './run-record.js';
import type { AffinePoint, BytesLike, Coordinate, OwnBytes, PointEncoding } from './values.js';

/** Expected costs of a call, from `MsmEngine.plan`. */
export interface MsmPlan {
  /**
   * Peak GPU memory of the call beside its bases, if the GPU computes it from the first base on. It
   * includes the verification, if the engine has `verify`. It excludes the recovery from a lost
   * device and an instrumented engine. 0 without a GPU.
   */
  readonly bytes: number;
  /** Number of submits to the GPU, without those of the verification. */
  readonly submits: number;
  /**
   * Expected duration, from what the engine has measured so far; null if only one backend can
   * compute the call, or if there is nothing to compute.
   */
  readonly predicted: Prediction | null;
  /** Bytes of points in main memory that count against the limit, those of all engines with the same threads. */
  readonly mainBytes: number;
  /** The option `memoryLimit` of the engine, or its default; `Infinity`: no limit. */
  readonly mainLimit: number;
}

/**
 * Computes Σ s_i·P_i on one GPU device, on the CPU, or on both: `MsmEngine` in G1, `MsmEngine<Fp2>`
 * in G2. Made by `createMsmEngine`.
 */
export interface MsmEngine<Of extends Coordinate = bigint> {
  /**
   * Uploads points, converts them to Montgomery form, and checks on the GPU that each is on the
   * curve.
   *
   * @param points either bytes, x‖y for each point, little-endian and canonical, infinity as all
   *   zeros (64 bytes a point for BN254; in G2 c0 before c1, and 128 bytes), or affine points
   * @throws MsmError `bad-argument` (a wrong length, a coordinate ≥ p; names the index),
   *   `not-on-curve` and, if asked for, `not-in-subgroup` (name the index), `out-of-memory`,
   *   `device-lost`, `destroyed`, `aborted`
   * @example
   * ```ts
   * const bytes = new Uint8Array(2 * 64); // x‖y of two points of BN254
   * bytes.set([1], 0);
   * bytes.set([2], 32); // (1, 2), and a point at infinity
   * const bases = await engine.loadBases(bytes);
   * console.log(bases.length); // 2
   * ```
   */
  loadBases(points: BytesLike | readonly AffinePoint<Of>[], options?: LoadBasesOptions): Promise<Bases>;

  /**
   * Keeps scalars for several MSMs, such as those of a proof's witness: they are copied and
   * surveyed once, and stay on the GPU. `msm` and `msmBatch` of every engine in a group of the same
   * order (such as G1 and G2) accept them; an engine on another device uploads them for each call.
   * After the loss of a device they are loaded again automatically.
   *
   * @param scalars as for `msm`
   * @throws MsmError `bad-argument`, `destroyed`, `aborted`, `out-of-memory`, `device-lost`
   * @example
   * ```ts
   * const witness = await engine.loadScalars([2n, 3n]);
   * const all = await engine.msm(bases, witness);
   * const first = await engine.msm(bases, witness.subarray(0, 1));
   * witness.destroy();
   * ```
   */
  loadScalars(scalars: BytesLike | readonly bigint[], options?: LoadScalarsOptions): Promise<Scalars>;

  /**
   * Computes the same sum, and returns it as bytes in the encoding that `result` names.
   *
   * @example
   * ```ts
   * const bytes = await engine.msm(bases, [2n, 3n], { result: 'be' });
   * console.log(bytes.length); // 64
   * ```
   */
  msm(
    bases: Bases,
    scalars: BytesLike | readonly bigint[] | Scalars | FieldVector,
    options: MsmOptions<PointEncoding> & { readonly result: PointEncoding },
  ): Promise<OwnBytes>;

  /**
   * Computes Σ scalars[i] · bases[offset + i].
   *
   * @param bases from `loadBases` of the same engine
   * @param scalars either bytes, 32 little-endian bytes for each scalar, any 256-bit value (it is
   *   reduced modulo the group order), or bigints in [0, 2^256), or the result of `loadScalars`, or
   *   a vector of a field engine. Their number n is at most `bases.length - offset`; n = 0 gives
   *   infinity. A vector on the same GPU device is not read back, unless the result is verified or
   *   the CPU takes part.
   * @throws MsmError `bad-argument`, `destroyed`, `aborted`, `out-of-memory`, `device-lost`,
   *   `internal`
   * @example
   * ```ts
   * const sum = await engine.msm(bases, [2n, 3n]);
   * console.log(sum.infinity, engine.lastRun?.on); // false cpu
   * ```
   */
  msm(
    bases: Bases,
    scalars: BytesLike | readonly bigint[] | Scalars | FieldVector,
    options?: MsmOptions,
  ): Promise<AffinePoint<Of>>;

  /**
   * Computes the same sums, and returns each as bytes in the encoding that `result` names.
   *
   * @example
   * ```ts
   * const [five, one] = await engine.msmBatch(bases, [[2n, 3n], [1n]], { result: 'be' });
   * console.log(five?.length, one?.length); // 64 64
   * ```
   */
  msmBatch(
    bases: Bases,
    scalars: readonly (BytesLike | readonly bigint[] | Scalars | FieldVector)[],
    options: MsmBatchOptions<PointEncoding> & { readonly result: PointEncoding },
  ): Promise<OwnBytes[]>;

  /**
   * Computes Σ scalars[v][i] · bases[offsets[v] + i] for every vector v, in one submit and with one
   * read-back. It takes more submits only if the memory budget or the time limit of a submit
   * requires it. For short vectors one batch is much faster than one call each.
   *
   * @param scalars vectors as for `msm`, of any lengths; a vector without scalars gives infinity
   * @returns the sums, in the order of the vectors
   * @throws MsmError as `msm`; the message names the vector
   * @example
   * ```ts
   * const [five, one] = await engine.msmBatch(bases, [[2n, 3n], [1n]]);
   * console.log(one?.x, one?.y); // 1n 2n
   * ```
   */
  msmBatch(
    bases: Bases,
    scalars: readonly (BytesLike | readonly bigint[] | Scalars | FieldVector)[],
    options?: MsmBatchOptions,
  ): Promise<AffinePoint<Of>[]>;

  /**
   * Returns the expected costs of an MSM of n scalars over these bases, or of a batch. It assumes
   * full-length scalars other than zero.
   *
   * @throws MsmError `bad-argument`, `destroyed`
   * @example
   * ```ts
   * const { submits } = await engine.plan(bases, bases.length);
   * console.log(submits); // 0
   * ```
   */
  plan(bases: Bases, n: number | readonly number[]): Promise<MsmPlan>;

  /**
   * Compiles the pipelines of `loadBases` (without `precompute`) and of MSMs of n scalars, so that
   * the first call does not wait for the compiler. One call is enough for all sizes, and for all
   * engines on a device while one of them exists. Each kernel is also dispatched once, without
   * work, because some drivers compile only then.
   *
   * @throws MsmError `bad-argument`, `destroyed`, `device-lost`, `internal`
   * @example
   * ```ts
   * await engine.warmup(2 ** 16); // before the first call is needed
   * ```
   */
  warmup(n: number): Promise<void>;

  /**
   * Frees memory that is only kept for later calls: scratch on the GPU, after the work that uses
   * it, the buffer for large uploads, and idle workers. The next call allocates what it needs.
   *
   * @throws MsmError `destroyed`
   * @example
   * ```ts
   * await engine.trim(); // after the last of many calls
   * ```
   */
  trim(): Promise<void>;
  /** GPU memory that the engine holds now, in bytes, and its peak. */
  readonly memory: MemoryUse;
  /** Counts of the calls so far, and of the calls that wait. */
  readonly stats: EngineStats;
  /**
   * Report on the last successful `msm` or `msmBatch`; null before the first one. A call with n = 0
   * does not change it.
   */
  readonly lastRun: RunRecord | null;
  /**
   * Result of the self-test, which runs before the first MSM on the GPU or in `warmup`: the
   * pipelines that calls will use compute a known answer. If their result is wrong, the engine uses
   * another field product on this device, and reports it here and in `lastRun`. null before the
   * self-test, and if it is switched off.
   */
  readonly selfTest: SelfTest | null;
  /**
   * Available backends: the GPU, and the CPU if it may compute MSMs; without WebGPU only the CPU.
   */
  readonly backends: readonly ('gpu' | 'cpu')[];
  /** Adapter of the engine; without a GPU its `vendor` is `cpu`. */
  readonly adapter: AdapterDescription;
  /** Pipelines that were compiled on the device so far, by all engines, and how long each took. */
  readonly pipelines: readonly CompileTime[];

  /**
   * Frees all that the engine made: buffers, bases, pipelines that no other engine on the device
   * uses, and the device unless it is the caller's.
   */
  destroy(): void;
  /** `destroy`, for `using`. */
  [Symbol.dispose](): void;
}

/** Points on the GPU, converted and checked, ready for MSMs. Made by `engine.loadBases`. */
export interface Bases {
  /** Number of points. */
  readonly length: number;
  /** GPU memory of the points, in bytes. */
  readonly byteLength: number;
  /**
   * Frees the GPU memory. Later uses of the handle reject with code `destroyed`. A second call has
   * no effect.
   */
  destroy(): void;
  /** `destroy`, for `using`. */
  [Symbol.dispose](): void;
}

/** Scalars for several MSMs, of one engine or of several. Made by `engine.loadScalars`. */
export interface Scalars {
  /** Number of scalars. */
  readonly length: number;
  /** GPU memory of the scalars, in bytes; 0 if they are in main memory only. */
  readonly byteLength: number;
  /**
   * Returns a handle of consecutive scalars, without a copy. The handle is destroyed with the
   * handle that it was made from. Destroying it does not destroy the other one.
   *
   * @param from index of the first scalar. Default 0
   * @param to index after the last scalar. Default `length`
   * @throws MsmError `bad-argument`, `destroyed`
   * @example
   * ```ts
   * const scalars = await engine.loadScalars([2n, 3n, 5n]);
   * const last = scalars.subarray(1);
   * console.log(last.length); // 2
   * ```
   */
  subarray(from?: number, to?: number): Scalars;
  /**
   * Frees the scalars. Later uses of the handle reject with code `destroyed`; earlier calls go on.
   * A second call has no effect.
   */
  destroy(): void;
  /** `destroy`, for `using`. */
  [Symbol.dispose](): void;
}
