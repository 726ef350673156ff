/** Work in steps, between which its caller can interrupt it. */
import type { TimeSlice } from './time-slice.js';

/** Work that yields about every 0.2 ms, at the latest every 2 ms. */
export type Steps<Result> = Generator<void, Result, void>;

/** Points or scalars of one step, where each takes about 0.1 µs. */
export const ITEMS_PER_STEP = 2 ** 11;

/** Runs steps, with a pause after each time slice. */
export const inTimeSlices = async <Result>(steps: Steps<Result>, timeSlice: TimeSlice): Promise<Result> => {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (timeSlice.isOver) await timeSlice.yield();
  }
};

/** Runs all steps without a pause. */
export const finish = <Result>(steps: Steps<Result>): Result => {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
};
