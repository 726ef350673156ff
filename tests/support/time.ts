/** Waiting, and clocks that tests control. */
import { vi } from 'vitest';

/** Resolves after some milliseconds; by default after the timers that are due. */
export const sleep = (ms = 0): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Returns the milliseconds that an action takes. */
export const msOf = async (action: () => Promise<unknown>): Promise<number> => {
  const started = performance.now();
  await action();
  return performance.now() - started;
};

/**
 * Stops `performance.now()`, so that only `spend` makes time pass. `vi.restoreAllMocks` starts it
 * again.
 */
export const stopClock = (): { spend(ms: number): void } => {
  // whole milliseconds, so that sums of times are exact
  let now = Math.ceil(performance.now());
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  return {
    spend(ms) {
      now += ms;
    },
  };
};
