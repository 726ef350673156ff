/// <reference lib="esnext.disposable" preserve="true" />
import type { Progress, TurnOptions } from './calls.js';
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
  /** Workers that took part beside the engine's thread; 0 on the GPU. */
  readonly workers: number;
  /**
   * Reason why the run was computed again: the message of the error with which a GPU would have
   * rejected otherwise, or which worker was lost. null if nothing was repeated.
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
  /**
   * Most workers that compute vectors beside the engine's thread. 0 on the GPU, without `deviceOf`, and
   * with a single worker that shares memory, which adds up sums meanwhile.
   */
  readonly workers: number;
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

/** Elements of a field that stay where they are computed. Made by a `FieldEngine`. */
export interface FieldVector {
  /** Number of elements. */
  readonly length: number;
  /**
   * Frees the elements, which the CPU overwrites before. Later uses of the handle reject with code
   * `destroyed`. A second call has no effect.
   */
  destroy(): void;
  /** `destroy`, for `using`. */
  [Symbol.dispose](): void;
}

/** A sparse matrix, sorted for products with vectors. Made by `FieldEngine.loadMatrix`. */
export interface SparseMatrix {
  /** Number of rows. */
  readonly rows: number;
  /** Number of columns. */
  readonly columns: number;
  /** Number of entries. */
  readonly entries: number;
  /** As of `FieldVector`. */
  destroy(): void;
  /** `destroy`, for `using`. */
  [Symbol.dispose](): void;
}

/** Order of a vector: natural, or by indices whose bits are reversed. */
export type FieldOrder = 'natural' | 'reversed';

/** Options of transforms. */
export interface TransformOptions {
  /** Order of the input. Default `natural`. */
  readonly from?: FieldOrder | undefined;
  /** Order of the result. Default `natural`. From one order to the other takes no permutation. */
  readonly to?: FieldOrder | undefined;
  /** Values are those at `coset`·w^i instead of w^i. Default 1. */
  readonly coset?: bigint | undefined;
}

/** Options of `scalePowers`. */
export interface ScalePowersOptions {
  /** Default 1. */
  readonly factor?: bigint | undefined;
  /** Order of the vector, and of the result. Default `natural`. */
  readonly order?: FieldOrder | undefined;
}

/**
 * Operations on vectors, recorded by `FieldEngine.run`. In the examples a is 1, 2, 3, 4 and b is 5,
 * 6, 7, 8. No operation changes its operands. Vectors
 * of a pair have the same length. Results are freed when the run is over, unless they are kept.
 *
 * @throws MsmError `bad-argument` naming the operand, `destroyed`
 */
export interface FieldOperations {
  /**
   * Keeps a result after the run. @returns the same vector
   * @example
   * ```ts
   * const made = await fr.run((ops) => ops.keep(ops.add(a, a)));
   * console.log((await fr.read(made))[0]); // 2
   * ```
   */
  keep(a: FieldVector): FieldVector;
  /**
   * Evaluates a polynomial at all n-th roots of unity: coefficients to values. n is a power of two.
   * The root w is that of snarkjs: z^((p − 1)/n) for the field's generator z.
   * @example
   * ```ts
   * const made = await fr.run((ops) => ops.keep(ops.ntt(a)));
   * console.log((await fr.read(made))[0]); // 10
   * ```
   */
  ntt(a: FieldVector, options?: TransformOptions): FieldVector;
  /**
   * Interpolates: values to coefficients. The inverse of `ntt` with the same coset.
   * @example
   * ```ts
   * const made = await fr.run((ops) => ops.keep(ops.intt(ops.ntt(a))));
   * console.log((await fr.read(made))[0]); // 1
   * ```
   */
  intt(a: FieldVector, options?: TransformOptions): FieldVector;
  /**
   * a_i + b_i.
   * @example
   * ```ts
   * const made = await fr.run((ops) => ops.keep(ops.add(a, b)));
   * console.log((await fr.read(made))[0]); // 6
   * ```
   */
  add(a: FieldVector, b: FieldVector): FieldVector;
  /**
   * a_i − b_i.
   * @example
   * ```ts
   * const made = await fr.run((ops) => ops.keep(ops.subtract(b, a)));
   * console.log((await fr.read(made))[0]); // 4
   * ```
   */
  subtract(a: FieldVector, b: FieldVector): FieldVector;
  /**
   * a_i·b_i.
   * @example
   * ```ts
   * const made = await fr.run((ops) => ops.keep(ops.multiply(a, b)));
   * console.log((await fr.read(made))[0]); // 5
   * ```
   */
  multiply(a: FieldVector, b: FieldVector): FieldVector;
  /**
   * a_i·b_i + c_i.
   * @example
   * ```ts
   * const made = await fr.run((ops) => ops.keep(ops.multiplyAdd(a, b, b)));
   * console.log((await fr.read(made))[0]); // 10
   * ```
   */
  multiplyAdd(a: FieldVector, b: FieldVector, c: FieldVector): FieldVector;
  /**
   * a_i·b_i − c_i.
   * @example
   * ```ts
   * const made = await fr.run((ops) => ops.keep(ops.multiplySubtract(a, b, a)));
   * console.log((await fr.read(made))[0]); // 4
   * ```
   */
  multiplySubtract(a: FieldVector, b: FieldVector, c: FieldVector): FieldVector;
  /**
   * −a_i.
   * @example
   * ```ts
   * const made = await fr.run((ops) => ops.keep(ops.add(b, ops.negate(a))));
   * console.log((await fr.read(made))[0]); // 4
   * ```
   */
  negate(a: FieldVector): FieldVector;
  /**
   * factor·a_i.
   * @example
   * ```ts
   * const made = await fr.run((ops) => ops.keep(ops.scale(a, 9n)));
   * console.log((await fr.read(made))[0]); // 9
   * ```
   */
  scale(a: FieldVector, factor: bigint): FieldVector;
  /**
   * factor·base^i·a_i, where i is the index in natural order.
   * @example
   * ```ts
   * const made = await fr.run((ops) => ops.keep(ops.scalePowers(a, 10n)));
   * console.log((await fr.read(made))[32]); // 20
   * ```
   */
  scalePowers(a: FieldVector, base: bigint, options?: ScalePowersOptions): FieldVector;
  /**
   * Σ factor·vector; shorter vectors count as padded with zeros.
   * @example
   * ```ts
   * const made = await fr.run((ops) => ops.keep(ops.linearCombination([[2n, a], [3n, b]])));
   * console.log((await fr.read(made))[0]); // 17
   * ```
   */
  linearCombination(terms: readonly (readonly [factor: bigint, vector: FieldVector])[]): FieldVector;
  /**
   * 1/a_i, and 0 of 0.
   * @example
   * ```ts
   * const made = await fr.run((ops) => ops.keep(ops.multiply(b, ops.invert(b))));
   * console.log((await fr.read(made))[0]); // 1
   * ```
   */
  invert(a: FieldVector): FieldVector;
  /**
   * Products of all elements before: 1, a_0, a_0·a_1, …; as many as a has.
   * @example
   * ```ts
   * const made = await fr.run((ops) => ops.keep(ops.prefixProduct(a)));
   * console.log((await fr.read(made))[96]); // 6
   * ```
   */
  prefixProduct(a: FieldVector): FieldVector;
  /**
   * Σ a_i·x^i, as a vector of one element.
   * @example
   * ```ts
   * const made = await fr.run((ops) => ops.keep(ops.evaluate(a, 2n)));
   * console.log((await fr.read(made))[0]); // 49
   * ```
   */
  evaluate(a: FieldVector, x: bigint): FieldVector;
  /**
   * Coefficients of (a(X) − a(x)) / (X − x) for a polynomial a: one less than a has, which is at
   * least 2.
   * @example
   * ```ts
   * const made = await fr.run((ops) => ops.keep(ops.divideByLinear(a, 1n)));
   * console.log((await fr.read(made))[0]); // 9
   * ```
   */
  divideByLinear(a: FieldVector, x: bigint): FieldVector;
  /**
   * Elements from index `from` up to and without `to`.
   * @example
   * ```ts
   * const made = await fr.run((ops) => ops.keep(ops.slice(a, 2)));
   * console.log((await fr.read(made))[0]); // 3
   * ```
   */
  slice(a: FieldVector, from: number, to?: number): FieldVector;
  /**
   * A vector of zeros with the elements from index `from` on; default 0.
   * @example
   * ```ts
   * const made = await fr.run((ops) => ops.keep(ops.pad(a, 8, 4)));
   * console.log((await fr.read(made))[128]); // 1
   * ```
   */
  pad(a: FieldVector, length: number, from?: number): FieldVector;
  /**
   * Element i is a[indices[i]].
   * @example
   * ```ts
   * const made = await fr.run((ops) => ops.keep(ops.gather(a, [3, 0])));
   * console.log((await fr.read(made))[0]); // 4
   * ```
   */
  gather(a: FieldVector, indices: ArrayLike<number>): FieldVector;
  /**
   * matrix·a.
   * @example
   * ```ts
   * const entries = { rows: 1, columns: 4, row: [0, 0], column: [0, 3], values: [1n, 1n] };
   * const matrix = await fr.loadMatrix(entries);
   * const product = await fr.run((ops) => ops.keep(ops.apply(matrix, a)));
   * console.log((await fr.read(product))[0]); // 5
   * ```
   */
  apply(matrix: SparseMatrix, a: FieldVector): FieldVector;
}
