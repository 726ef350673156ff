import type { Sharing } from '../../api/sharing.js';

/** Settings by which workers of the CPU make room for other work. */
export type CapOptions = Required<Pick<Sharing, 'sidePool' | 'throttle'>> & Pick<Sharing, 'yieldWhile'>;

/** Returns the same answer every time: that of the first. */
const onceOf = (ask: () => number): (() => number) => {
  let told: number | null = null;
  return () => {
    told ??= ask();
    return told;
  };
};

/**
 * Returns how many workers of the CPU may be at work: `sidePool` while the GPU has work of other calls,
 * or while the caller's own work wants the machine; else all. Without `throttle` the answer of the
 * beginning holds for the whole sum.
 *
 * @param isGpuBusy true while the GPU has work of equal or higher priority for other calls
 */
export const workerCap = ({ sidePool, throttle, yieldWhile }: CapOptions, isGpuBusy: () => boolean): (() => number) => {
  const isBusy = (): boolean => isGpuBusy() || yieldWhile?.() === true;
  const cap = (): number => (isBusy() ? sidePool : Number.POSITIVE_INFINITY);
  return throttle ? cap : onceOf(cap);
};
