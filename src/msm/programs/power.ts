import { ODD_POWERS, type PowerStep, powerSteps } from '../../field/sliding-window.js';
import type { ProgramWriter, Register } from '../stages/program.js';

/**
 * Writes to = base^exponent, in Montgomery form, by sliding windows.
 *
 * @param odd registers for the odd powers; the first holds the base
 * @param exponent at least 1
 */
export const writePower = (w: ProgramWriter, to: Register, odd: readonly Register[], exponent: bigint): void => {
  const [base] = odd as [Register];
  w.product(to, base, base);
  for (let i = 1; i < ODD_POWERS; i++) w.product(odd[i] as Register, odd[i - 1] as Register, to);
  const [first, ...steps] = powerSteps(exponent) as [PowerStep, ...PowerStep[]];
  w.move(to, odd[first.odd as number] as Register);
  for (const { squares, odd: power } of steps) {
    if (power === null) w.squares(to, to, squares);
    else w.product(to, to, odd[power] as Register, squares);
  }
};
