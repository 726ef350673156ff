/** The curve that a caller names, or gives by its constants. */
import { badArgument, notLoaded, show } from '../errors.js';
import { fieldProducts } from '../field/modulus.js';
import { isPrime } from '../field/powers.js';
import { quadraticField } from '../field/quadratic.js';
import { bn254 } from './bn254.js';
import {
  type AnyCurve,
  type CurveContext,
  constantsOf,
  curveContext,
  type EdwardsCurve,
  withProduct,
} from './curve.js';
import { weierstrassOf } from './edwards.js';
import { isInfinity, multiply } from './jacobian.js';
import type { Group, NamedCurve, NameOf } from './more-curves.js';

const isEdwards = (curve: AnyCurve | EdwardsCurve): curve is EdwardsCurve => !('b' in curve);

/** Contexts of curves by name. Engines of a curve share what is generated from its constants. */
const ofNamed = new WeakMap<object, CurveContext>();

const contextOfNamed = (found: AnyCurve | EdwardsCurve): CurveContext => {
  const known = ofNamed.get(found);
  if (known !== undefined) return known;
  const curve = isEdwards(found) ? weierstrassOf(found) : found;
  const context = curveContext(curve, curve.nonResidue === undefined ? undefined : quadraticField);
  ofNamed.set(found, context);
  return context;
};

/**
 * Resolves the curve of a caller, given by name or constants. Checks constants as far as that is
 * quick: with a wrong order, GPU and CPU would return different sums, because they reduce scalars
 * at different points.
 *
 * @throws MsmError `bad-argument` naming the constant that is wrong
 */
export const openCurve = async (given: NamedCurve | AnyCurve, group: Group | undefined): Promise<CurveContext> => {
  if (group !== undefined && group !== 'g1' && group !== 'g2') {
    throw badArgument(`group must be 'g1' or 'g2', got ${show(group)}`);
  }
  if (typeof given !== 'object' || given === null) {
    const found = await resolveCurve(given, group ?? 'g1');
    return contextOfNamed(found);
  }
  // read before the first await, so that later changes of the object have no effect
  const own = constantsOf(given);
  const where = `curve ${show(own.name)}`;
  if (group !== undefined && (group === 'g2') !== (own.nonResidue !== undefined)) {
    throw badArgument(`${where}: its coordinates are not those of group '${group}'; omit the group`);
  }
  // checked first, because square roots modulo a composite number may never end; other errors of p
  // follow below
  if (
    typeof own.p === 'bigint' &&
    own.p % 2n === 1n &&
    own.p >> 45n !== 0n &&
    own.p >> 414n === 0n &&
    !isPrime(own.p)
  ) {
    throw badArgument(`${where}: p must be a prime, but ${own.p} is not`);
  }
  const curve = curveContext(own, own.nonResidue === undefined ? undefined : quadraticField);
  const { order, generator } = curve;
  try {
    for (const product of fieldProducts) withProduct(curve, product).coordinates.view();
  } catch (error) {
    throw badArgument(`${where}: this p is not supported: ${(error as Error).message}`);
  }
  if (!isInfinity(curve, multiply(curve, order, generator))) {
    throw badArgument(`${where}: order times the generator must be infinity`);
  }
  return curve;
};

/**
 * The names of BN254, whose G1 needs no further module. The compiler compares them with the
 * registry.
 */
const namesOfBn254: Readonly<Record<NameOf<'bn254'>, true>> = {
  bn254: true,
  BN254: true,
  bn128: true,
  alt_bn128: true,
};

/**
 * Returns the constants of a group of a named curve. Loads the module of the other curves unless it
 * is BN254's G1.
 *
 * @throws MsmError `bad-argument` if no curve has that name, or the curve lacks that group
 */
export const resolveCurve = async (curve: string, group: Group): Promise<AnyCurve | EdwardsCurve> => {
  if (Object.hasOwn(namesOfBn254, curve) && group === 'g1') return bn254;
  const { curveNamed, listNames } = await import('./more-curves.js').catch(notLoaded('more-curves'));
  const found = curveNamed(curve, group);
  if (found === null) {
    const those = group === 'g1' ? 'or a Curve object' : "for group 'g2', or a Curve object with a nonResidue";
    throw badArgument(`curve: ${show(curve)} is unknown; give one of ${listNames(group)} ${those}`);
  }
  return found;
};
