import { badArgument, show } from '../errors.js';
import { modulus } from '../field/modulus.js';
import { fieldView } from '../field/wgsl.js';
import { type Curve, type CurveContext, curveContext } from './curve.js';
import { multiply } from './jacobian.js';
import { resolveCurve } from './named.js';
import type { NamedCurve } from './names.js';

/**
 * The curve that a caller means, with all that is derived from it. Constants of the caller's own are checked as far as that is quick: GPU and
 * CPU would disagree where the order is not one, as either reduces scalars at another place.
 *
 * @throws MsmError `bad-argument` naming the constant that is wrong
 */
export const openCurve = async (given: NamedCurve | Curve): Promise<CurveContext> => {
  // constants are read at once: what becomes of the object afterwards does not matter
  const isOwn = typeof given === 'object' && given !== null;
  const curve = curveContext(isOwn ? given : await resolveCurve(given));
  if (!isOwn) return curve;
  const { field, order, generator } = curve;
  const where = `curve ${show(curve.name)}`;
  try {
    fieldView(field);
    for (const product of ['unsigned', 'dot4'] as const) fieldView(modulus(field.p, product));
  } catch (error) {
    throw badArgument(`${where}: there is no arithmetic for this p: ${(error as Error).message}`);
  }
  if (multiply(curve, order, generator).z !== 0n) {
    throw badArgument(`${where}: order is not that of the generator: order times the generator is not infinity`);
  }
  return curve;
};
