import type { Steps } from '../../src/msm/cpu/bucket-sums.js';

/** What work comes to that might be interrupted. */
export const inOneGo = <Result>(steps: Steps<Result>): Result => {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
};
