/** Work that yields about every 0.2 ms, so that its caller can interrupt it. */
export type Steps<Result> = Generator<void, Result, void>;

/** Runs all steps without a pause. */
export const finish = <Result>(steps: Steps<Result>): Result => {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
};
