/** Checks of a partial sum that need no scalars. */
import { MsmError } from 'webgpu-msm';

/**
 * Returns why a sum cannot be right for any statement: not canonical, not on the curve, or not in
 * the group.
 *
 * @param {import('webgpu-msm').MsmEngine} engine
 * @param {Uint8Array} sum
 * @returns {Promise<string | null>}
 */
export async function faultOf(engine, sum) {
  try {
    const point = await engine.loadBases(sum, { encoding: 'be', checkSubgroup: true });
    const { length } = point;
    point.destroy();
    return length === 1 ? null : `it has ${length} points instead of one`;
  } catch (error) {
    if (error instanceof MsmError && ['bad-argument', 'not-on-curve', 'not-in-subgroup'].includes(error.code)) {
      return `${error.code}: ${error.message}`;
    }
    throw error;
  }
}

/**
 * Returns whether a sum is infinity: zeros, or (0, 1) of Edwards form. Sums almost never are, but
 * unwritten memory is.
 *
 * @param {Uint8Array} sum
 */
export const isInfinity = (sum) => sum.every((byte, i) => byte === 0 || (byte === 1 && i === sum.length - 1));
