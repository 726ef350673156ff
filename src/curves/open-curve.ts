import { badArgument, show } from '../errors.js';
import { fieldProducts } from '../field/modulus.js';
import {
  type AnyCurve,
  type CurveContext,
  constantsOf,
  curveContext,
  type EdwardsCurve,
  type Extension,
  type KnownCurve,
  withProduct,
} from './curve.js';
import { isInfinity, multiply } from './jacobian.js';
import { resolveCurve } from './named.js';
import type { Group, NamedCurve } from './names.js';

/** Parts of the library that named curves over a prime field do without. */
export interface Models {
  isPrime(p: bigint): boolean;
  readonly quadraticField: Extension;
  weierstrassOf(curve: EdwardsCurve): KnownCurve;
}

const isEdwards = (curve: AnyCurve | EdwardsCurve): curve is EdwardsCurve => !('b' in curve);

/**
 * The curve that a caller means, with all that is derived from it. Constants of the caller's own are checked as far as that is quick: GPU and
 * CPU would disagree where the order is not one, as either reduces scalars at another place.
 *
 * @param load brings what makes fields of p² elements and images of Edwards curves, where the curve has either
 * @throws MsmError `bad-argument` naming the constant that is wrong
 */
export const openCurve = async (
  given: NamedCurve | AnyCurve,
  group: Group | undefined,
  load: () => Promise<Models>,
): Promise<CurveContext> => {
  if (group !== undefined && group !== 'g1' && group !== 'g2') {
    throw badArgument(`group must be 'g1' or 'g2', got ${show(group)}`);
  }
  if (typeof given !== 'object' || given === null) {
    const found = await resolveCurve(given, group ?? 'g1');
    const curve = isEdwards(found) ? (await load()).weierstrassOf(found) : found;
    return curveContext(curve, curve.nonResidue === undefined ? undefined : (await load()).quadraticField);
  }
  // constants are read at once: what becomes of the object afterwards does not matter
  const own = constantsOf(given);
  const where = `curve ${show(own.name)}`;
  if (group !== undefined && (group === 'g2') !== (own.nonResidue !== undefined)) {
    throw badArgument(`${where}: its coordinates are not of group '${group}'; leave the group out`);
  }
  const { isPrime, quadraticField } = await load();
  // first: square roots modulo a composite may never end. What else is wrong with p is said below
  if (
    typeof own.p === 'bigint' &&
    own.p % 2n === 1n &&
    own.p >> 45n !== 0n &&
    own.p >> 414n === 0n &&
    !isPrime(own.p)
  ) {
    throw badArgument(`${where}: p must be a prime, and ${own.p} is none`);
  }
  const curve = curveContext(own, own.nonResidue === undefined ? undefined : quadraticField);
  const { order, generator } = curve;
  try {
    for (const product of fieldProducts) withProduct(curve, product).coordinates.view();
  } catch (error) {
    throw badArgument(`${where}: there is no arithmetic for this p: ${(error as Error).message}`);
  }
  if (!isInfinity(curve, multiply(curve, order, generator))) {
    throw badArgument(`${where}: order is not that of the generator: order times the generator is not infinity`);
  }
  return curve;
};
