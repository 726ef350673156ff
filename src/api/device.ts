import type { Tuning } from './tuning.js';

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

/** What an engine's self-test found on its device: an MSM of points that are hard on arithmetic, whose answer the CPU knows. */
export interface SelfTest {
  /** How products are computed since: as was right to the last bit. null: nothing was, and calls that need the GPU reject with `internal`. */
  readonly product: Tuning['fieldProduct'] | null;
  /** What was wrong with those that were to be taken; null if nothing was. */
  readonly failed: string | null;
  /** Milliseconds that it took: hardly more than compiling, where the pipelines were not there yet. */
  readonly ms: number;
}

/** How long a pipeline took to compile. */
export interface CompileTime {
  /** The kernel. */
  readonly name: string;
  /** Milliseconds from the request until it was there; several are compiled at a time. After `warmup` its first dispatch is in it. */
  readonly ms: number;
}
