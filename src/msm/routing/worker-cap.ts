import type { Sharing } from '../../api/sharing.js';

/** Settings that limit the workers of the CPU in favour of other work. */
export interface CapOptions extends Pick<Sharing, 'yieldWhile'> {
  readonly sidePool: number;
  readonly throttle: boolean;
}

/** Returns a function that asks once and then returns the same answer. */
const onceOf = (ask: () => number): (() => number) => {
  let told: number | null = null;
  return () => {
    told ??= ask();
    return told;
  };
};

/**
 * Returns a function that returns how many CPU workers may compute. The number is `sidePool` while
 * the GPU has work of other calls or `yieldWhile` returns true, and else unlimited. Without
 * `throttle` the first answer holds for the whole call.
 *
 * @param isGpuBusy true while the GPU has work of equal or higher priority for other calls
 */
export const workerCap = ({ sidePool, throttle, yieldWhile }: CapOptions, isGpuBusy: () => boolean): (() => number) => {
  const isBusy = (): boolean => isGpuBusy() || yieldWhile?.() === true;
  const cap = (): number => (isBusy() ? sidePool : Number.POSITIVE_INFINITY);
  return throttle ? cap : onceOf(cap);
};
