import type { ProgramWriter, Register } from '../stages/program.js';

/**
 * Registers of odd powers for an exponentiation by sliding windows of four bits (Knuth, TAOCP
 * 4.6.3).
 */
export const ODD_POWERS = 8;

/**
 * Writes to = base^exponent, in Montgomery form.
 *
 * @param odd registers for the odd powers; the first holds the base
 * @param exponent at least 1
 */
export const writePower = (w: ProgramWriter, to: Register, odd: readonly Register[], exponent: bigint): void => {
  const [base] = odd as [Register];
  w.product(to, base, base);
  for (let i = 1; i < ODD_POWERS; i++) w.product(odd[i] as Register, odd[i - 1] as Register, to);
  const bits = exponent.toString(2);
  const widest = Math.log2(ODD_POWERS) + 1;
  let isFirst = true;
  let squares = 0;
  for (let at = 0; at < bits.length; ) {
    if (bits[at] === '0') {
      squares++;
      at++;
      continue;
    }
    // the longest window that ends with a 1
    const window = bits.slice(at, at + widest).replace(/0+$/, '');
    const power = odd[(Number.parseInt(window, 2) - 1) / 2] as Register;
    if (isFirst) w.move(to, power);
    else w.product(to, to, power, squares + window.length);
    isFirst = false;
    squares = 0;
    at += window.length;
  }
  w.squares(to, to, squares);
};
