/// <reference lib="esnext.disposable" preserve="true" />
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
