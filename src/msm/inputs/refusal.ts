import type { CurveContext } from '../../curves/curve.js';
import type { PointFormat } from '../../curves/misread.js';
import { badArgument, MsmError } from '../../errors.js';

/** Reason to reject a point. */
export type Wrong = 'a coordinate' | 'off the curve' | 'outside the group';

/**
 * Returns the error of a load.
 *
 * @param index index of the first wrong point
 * @param meant format in which its bytes are a point of the curve; null: none
 */
export const refusal = ({ name }: CurveContext, index: number, wrong: Wrong, meant: PointFormat | null): MsmError => {
  const point = `points[${index}]`;
  const advice = meant === null ? '' : `, but read as ${meant} it is on the curve; convert before you load`;
  switch (wrong) {
    case 'a coordinate':
      return badArgument(`${point}: a coordinate is not below the prime of ${name}${advice}`);
    case 'off the curve':
      return new MsmError('not-on-curve', `${point} is not on ${name}${advice}`);
    case 'outside the group':
      return new MsmError('not-in-subgroup', `${point} is on ${name}, but not in its group of order r`);
  }
};
