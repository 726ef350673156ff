/** Converts numbers from limbs of one width to limbs of another. */
import type { Code, Local } from '../encoder/code.js';

/**
 * Leaves bits of integers of `width` bits side by side: `count` bits from `bit`. The last integer
 * has the sign, and all others are not negative.
 *
 * @param isTop whether all bits from `bit` on are left
 */
export const pushBits = (
  code: Code,
  limbs: readonly Local[],
  width: number,
  bit: number,
  count: number,
  isTop: boolean,
): void => {
  let isFirst = true;
  for (const [i, limb] of limbs.entries()) {
    const shift = bit - i * width;
    const isLast = i === limbs.length - 1;
    // limbs beside these bits have none of them; the last one has its sign in all that follow
    if ((shift >= width && !isLast) || shift <= -count) continue;
    code.get(limb);
    if (shift > 0) code.i64(Math.min(shift, 63)).do(isLast ? 'i64.shr_s' : 'i64.shr_u');
    else if (shift < 0) code.i64(-shift).do('i64.shl');
    if (!isFirst) code.do('i64.or');
    isFirst = false;
  }
  if (isFirst) code.i64(0);
  if (!isTop) code.i64((1n << BigInt(count)) - 1n).do('i64.and');
};
