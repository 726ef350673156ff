/** Has a function of WebAssembly take so many times as long: after each call it spins. What it returns is lost, as what it is for returns nothing. */
export const slowedDown =
  (call: (...values: readonly number[]) => void, times: number) =>
  (...values: readonly number[]): void => {
    const begun = performance.now();
    call(...values);
    const end = begun + times * (performance.now() - begun);
    while (performance.now() < end);
  };
