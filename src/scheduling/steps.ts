/** Work in steps, between which its caller can interrupt it. */

/** Work that yields about every 0.2 ms, at the latest every 2 ms. */
export type Steps<Result> = Generator<void, Result, void>;

/** Points or scalars of one step, where each takes about 0.1 µs. */
export const ITEMS_PER_STEP = 2 ** 11;

/** Runs all steps without a pause. */
export const finish = <Result>(steps: Steps<Result>): Result => {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
};
