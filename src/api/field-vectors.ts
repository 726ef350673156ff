/// <reference lib="esnext.disposable" preserve="true" />
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
