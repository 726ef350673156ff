/// <reference lib="esnext.disposable" preserve="true" />
import type { Progress, TurnOptions } from './calls.js';
import type { FieldOperations } from './field-operations.js';
import type { FieldVector, SparseMatrix } from './field-vectors.js';
import type { BytesLike, OwnBytes } from './values.js';

/**
 * How numbers are written in bytes: little-endian or big-endian, or little-endian times 2^(8·bytes)
 * modulo p, as in the files of snarkjs. A number has the bytes of p, in whole words of 32 bits.
 */
export type FieldEncoding = 'le' | 'be' | 'le-montgomery';

/**
 * Options of a call. An engine makes one call at a time. Among those that wait the earliest due one
 * begins. A more urgent one goes before the next operation of a run on the CPU, and between the
 * submits that other engines make to the GPU.
 */
export interface FieldCallOptions extends TurnOptions {
  /** Ends the call with code `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of `load` and `read`. */
export interface FieldBytesOptions extends FieldCallOptions {
  /** Default `le`. */
  readonly encoding?: FieldEncoding | undefined;
}

/** Options of `run`. */
export interface FieldRunOptions extends FieldCallOptions {
  /**
   * Called when the work begins, and after each submit of a GPU or operation of the CPU, with the
   * phase `vectors`. Its errors end the run.
   */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /**
   * Probability, or true for 1, that results of a GPU are verified: all operations are computed a
   * second time in another way, and each result that is kept, as a polynomial, must have the same
   * value at a random point. If one differs, the run is repeated once and then rejects with code
   * `internal`.
   *
   * @defaultValue that of the engine
   */
  readonly verify?: boolean | number | undefined;
}

/** Entries of a sparse matrix. Several entries of one place are added. */
export interface MatrixEntries {
  /** Number of rows. */
  readonly rows: number;
  /** Number of columns. */
  readonly columns: number;
  /** Row of each entry. */
  readonly row: ArrayLike<number>;
  /** Column of each entry. */
  readonly column: ArrayLike<number>;
  /** Value of each entry, in the encoding that the options name. */
  readonly values: BytesLike | readonly bigint[];
}

/** Facts about the last run of a `FieldEngine`. */
export interface FieldRunRecord {
  /** Where it ran. */
  readonly on: 'cpu' | 'gpu';
  /** Arithmetic of WebAssembly, or the field product of the GPU. */
  readonly arithmetic: 'wasm-fma' | 'wasm-wide' | 'wasm-simd' | 'wasm' | 'unsigned' | 'dot4' | 'fma';
  /** Number of operations. */
  readonly operations: number;
  /** Products of elements, without those that made tables. */
  readonly products: number;
  /** Passes of all transforms over their vectors in memory. */
  readonly passes: number;
  /** Dispatches on the GPU; 0 on the CPU. */
  readonly dispatches: number;
  /** Submits to the GPU, without those of the verification; 0 on the CPU. */
  readonly submits: number;
  /**
   * Reason why a GPU computed the run again: the message of the error with which it would have
   * rejected otherwise. null if nothing was repeated.
   */
  readonly retried: string | null;
  /** Duration in ms. */
  readonly ms: number;
  /** Duration of each kind of operation, in ms; empty on a GPU without timestamps. */
  readonly phases: Readonly<Record<string, number>>;
  /** True if the results were verified. Those of the CPU count as verified. */
  readonly verified: boolean;
}

/** Costs of a run, from `FieldEngine.plan`. */
export interface FieldPlan
  extends Pick<FieldRunRecord, 'on' | 'operations' | 'products' | 'passes' | 'dispatches' | 'submits'> {
  /**
   * Most bytes that the run has at a time beside those in use: results, scratch, and the tables
   * that it makes. On a GPU it includes the verification, if the engine has `verify`.
   */
  readonly bytes: number;
  /** Bytes of the results that are kept. */
  readonly keptBytes: number;
}

/** Computes on vectors of one field. Made by `createFieldEngine`. */
export interface FieldEngine {
  /** The prime of the field. */
  readonly p: bigint;
  /** Bytes of a number. */
  readonly numberBytes: number;
  /** Longest transform: 2^k for the largest k that divides p − 1. */
  readonly longestTransform: number;
  /** Facts about the last run; null before the first. */
  readonly lastRun: FieldRunRecord | null;
  /** Bytes of vectors and tables: now and at most so far. */
  readonly memory: {
    /** Bytes in use. */
    readonly used: number;
    /** Most bytes that were in use at a time. */
    readonly peak: number;
  };
  /**
   * Copies numbers into a vector.
   *
   * @throws MsmError `bad-argument` (a wrong length, a number ≥ p; names the index),
   *   `out-of-memory`, `aborted`, `destroyed`
   * @example
   * ```ts
   * const values = await fr.load([1n, 2n]);
   * console.log(values.length); // 2
   * ```
   */
  load(numbers: BytesLike | readonly bigint[], options?: FieldBytesOptions): Promise<FieldVector>;
  /**
   * Sorts a sparse matrix for products. @throws MsmError as `load`
   * @example
   * ```ts
   * const entries = { rows: 1, columns: 4, row: [0, 0], column: [0, 3], values: [1n, 1n] };
   * const matrix = await fr.loadMatrix(entries);
   * console.log(matrix.entries); // 2
   * ```
   */
  loadMatrix(entries: MatrixEntries, options?: FieldBytesOptions): Promise<SparseMatrix>;
  /**
   * Records operations, and computes them.
   *
   * @param record calls operations; its result is returned
   * @throws MsmError `bad-argument`, `out-of-memory`, `aborted`, `destroyed`, `internal`
   * @example
   * ```ts
   * import { createFieldEngine } from 'webgpu-msm/fields';
   *
   * const fr = await createFieldEngine({ field: 'bn254-fr' });
   * const values = await fr.load([1n, 2n, 3n, 4n]);
   * const squares = await fr.run((ops) => ops.keep(ops.multiply(values, values)));
   * console.log((await fr.read(squares))[32]); // 4
   * fr.destroy();
   * ```
   */
  run<Result>(record: (operations: FieldOperations) => Result, options?: FieldRunOptions): Promise<Result>;
  /**
   * Returns the costs of a run, without allocating its memory or computing. The recorded vectors
   * end with the call.
   *
   * @param record calls operations, as for `run`
   * @throws MsmError `out-of-memory` if the run exceeds a budget or a limit of the device,
   *   `bad-argument`, `destroyed`
   * @example
   * ```ts
   * const plan = await fr.plan((ops) => ops.keep(ops.ntt(a)));
   * console.log(plan.products, plan.bytes > 0); // 4 true
   * ```
   */
  plan(record: (operations: FieldOperations) => unknown): Promise<FieldPlan>;
  /**
   * Returns the numbers of a vector. @throws MsmError `bad-argument`, `aborted`, `destroyed`
   * @example
   * ```ts
   * console.log((await fr.read(a, { encoding: 'be' }))[31]); // 1
   * ```
   */
  read(vector: FieldVector, options?: FieldBytesOptions): Promise<OwnBytes>;
  /**
   * Frees memory that is kept for later runs: tables, and scratch on a GPU.
   * @example
   * ```ts
   * await fr.run((ops) => ops.ntt(a)); // makes twiddles
   * fr.trim();
   * ```
   */
  trim(): void;
  /** Frees all vectors. Later calls reject with code `destroyed`. */
  destroy(): void;
  /** `destroy`, for `using`. */
  [Symbol.dispose](): void;
}
