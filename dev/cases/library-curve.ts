import type { CurveContext } from '../../src/curves/curve.js';
import { weierstrassOf } from '../../src/curves/edwards.js';
import { openCurve } from '../../src/curves/open-curve.js';
import { isPrime } from '../../src/field/prime.js';
import { quadraticField } from '../../src/field/quadratic.js';
import type { CurveGroup } from '../oracle/curves.js';

/** Opens a curve as the library does, with everything derived from its constants. */
export const libraryCurve = ({ curve, group }: CurveGroup): Promise<CurveContext> =>
  openCurve(curve, group, async () => ({ isPrime, quadraticField, weierstrassOf }));
