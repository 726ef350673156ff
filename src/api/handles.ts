/// <reference lib="esnext.disposable" preserve="true" />
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
