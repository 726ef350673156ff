/// <reference lib="esnext.disposable" preserve="true" />
import type { LoadBasesOptions, LoadScalarsOptions, MsmBatchOptions, MsmOptions } from './calls.js';
import type { AdapterDescription, CompileTime, MemoryUse, SelfTest } from './device.js';
import type { Bases, Scalars } from './handles.js';
import type { Prediction, RunRecord } from './run-record.js';
import type { EngineStats } from './sharing.js';
import type { AffinePoint, BytesLike, Coordinate, OwnBytes, PointEncoding } from './values.js';

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
