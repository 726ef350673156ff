/**
 * The clock of the waits for a GPU, which goes as a test says: minutes pass at once, and none pass
 * while a machine is slow.
 */
import { vi } from 'vitest';
import { sleep } from './time.js';

/** How often waits are looked at (src/gpu/device-watch.ts). */
const TICK_MS = 250;

export interface WatchClock {
  /** Has so many milliseconds pass for every wait. */
  advance(ms: number): Promise<void>;
  /** Has them pass until a promise settles, or so many have passed. */
  advanceUntil(settled: Promise<unknown>, ms: number): Promise<void>;
  /** Waits that a timer looks after. */
  readonly timers: number;
  restore(): void;
}

export const stopWatchClock = (): WatchClock => {
  const timers = new Map<object, () => void>();
  const { setInterval: start, clearInterval: stop } = globalThis;
  const startSpy = vi.spyOn(globalThis, 'setInterval').mockImplementation(((run: () => void, ms: number) => {
    if (ms !== TICK_MS) return start(run, ms);
    const timer = {};
    timers.set(timer, run);
    return timer;
  }) as typeof setInterval);
  const stopSpy = vi.spyOn(globalThis, 'clearInterval').mockImplementation(((timer: object) => {
    if (!timers.delete(timer)) stop(timer as NodeJS.Timeout);
  }) as typeof clearInterval);
  return {
    advance: async (ms) => {
      for (let passed = 0; passed < ms; passed += TICK_MS) {
        for (const run of [...timers.values()]) run();
        // a wait that ended has others begin
        await undefined;
      }
    },
    advanceUntil: async (settled, ms) => {
      let isOver = false;
      const over = (): void => {
        isOver = true;
      };
      settled.then(over, over);
      for (let passed = 0; passed < ms && !isOver; passed += TICK_MS) {
        for (const run of [...timers.values()]) run();
        // what comes after a wait takes its time, a new device for instance
        if (passed % 1000 === 0) await sleep(2);
      }
    },
    get timers() {
      return timers.size;
    },
    restore: () => {
      startSpy.mockRestore();
      stopSpy.mockRestore();
    },
  };
};
