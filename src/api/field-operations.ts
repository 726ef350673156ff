import type { FieldVector, SparseMatrix } from './field-vectors.js';

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
