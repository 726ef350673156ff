/** Multiple of its time that a slowed worker takes, like one whose core is shared. */
export const SLOWED_TIMES = 3;

/**
 * Slows a WebAssembly function down by a factor: it spins after each call. The function must return
 * nothing.
 */
export const slowedDown =
  (call: (...values: readonly number[]) => void, times: number) =>
  (...values: readonly number[]): void => {
    const begun = performance.now();
    call(...values);
    const end = begun + times * (performance.now() - begun);
    while (performance.now() < end);
  };
