import type { CurveContext } from '../../src/curves/curve.js';
import { weierstrassOf } from '../../src/curves/edwards.js';
import { openCurve } from '../../src/curves/open-curve.js';
import { isPrime } from '../../src/field/prime.js';
import { quadraticField } from '../../src/field/quadratic.js';
import type { CurveGroup } from '../oracle/curves.js';

/** A curve as the library opens it, with all that it derives from the constants. */
export const libraryCurve = ({ curve, group }: CurveGroup): Promise<CurveContext> =>
  openCurve(curve, group, async () => ({ isPrime, quadraticField, weierstrassOf }));
