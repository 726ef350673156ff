import type { Tuning } from './tuning.js';

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
