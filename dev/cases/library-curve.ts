import type { CurveContext } from '../../src/curves/curve.js';
import { openCurve } from '../../src/curves/open-curve.js';
import type { CurveGroup } from '../oracle/curves.js';

/** Opens a curve as the library does, with everything derived from its constants. */
export const libraryCurve = ({ curve, group }: CurveGroup): Promise<CurveContext> => openCurve(curve, group);
