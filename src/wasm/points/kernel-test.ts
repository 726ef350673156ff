/** Known answer of a kernel, which an adder computes before its first result. */
/** Sums of points that were computed by other means. Can be sent to another thread. */
export interface KernelTest {
  /** x‖y of points on the curve, little-endian. */
  readonly words: Uint32Array<ArrayBuffer>;
  /**
   * Indices of two points, whether each is negated, and the coefficients of x and y of their sum.
   */
  readonly sums: readonly (readonly [
    P: number,
    negatesP: boolean,
    Q: number,
    negatesQ: boolean,
    sum: readonly bigint[],
  ])[];
}
