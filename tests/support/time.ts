/** Waiting, and clocks that tests control. */
import { vi } from 'vitest';

/** Resolves after some milliseconds; by default after the timers that are due. */
export const sleep = (ms = 0): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Resolves once a condition holds, which is checked every millisecond for a minute. */
export const until = (holds: () => boolean): Promise<unknown> => vi.waitUntil(holds, { interval: 1, timeout: 60_000 });

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

/** Has `performance.now()` go `factor` times as fast from now on, until `vi.restoreAllMocks`. */
export const hastenClock = (factor: number): void => {
  const real = performance.now.bind(performance);
  const start = real();
  vi.spyOn(performance, 'now').mockImplementation(() => start + factor * (real() - start));
};

/** Has timers of these durations fire at once, until `vi.restoreAllMocks`. @param waits in milliseconds */
export const skipWaits = (waits: readonly number[]): void => {
  const real = globalThis.setTimeout;
  const wait = (run: () => void, ms = 0, ...given: unknown[]): unknown =>
    real(run, waits.includes(ms) ? 0 : ms, ...given);
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(wait as unknown as typeof setTimeout);
};

/** Lets a frame pass whenever the clock is read, until `vi.restoreAllMocks`. */
export const passFrames = (): void => {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => {
    now += 17;
    return now;
  });
};
