/** Powers with a fixed exponent, by sliding windows of four bits (Knuth, TAOCP 4.6.3). */

const WINDOW_BITS = 4;

/** Odd powers of a base that windows need: those with the exponents 1, 3, 5, …, 15. */
export const ODD_POWERS = 2 ** (WINDOW_BITS - 1);

/** One step: squarings, and the odd power to multiply by then, by its index; null for none. */
export interface PowerStep {
  readonly squares: number;
  readonly odd: number | null;
}

/** Returns the steps for an exponent of at least 1. The first step has a power to begin with. */
export const powerSteps = (exponent: bigint): readonly PowerStep[] => {
  const bits = exponent.toString(2);
  const steps: PowerStep[] = [];
  let squares = 0;
  for (let at = 0; at < bits.length; ) {
    if (bits[at] === '0') {
      squares++;
      at++;
      continue;
    }
    // the longest window that ends with a 1
    const window = bits.slice(at, at + WINDOW_BITS).replace(/0+$/, '');
    steps.push({ squares: squares + window.length, odd: (Number.parseInt(window, 2) - 1) / 2 });
    squares = 0;
    at += window.length;
  }
  return squares === 0 ? steps : [...steps, { squares, odd: null }];
};
