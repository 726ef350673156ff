/**
 * CPU reference of the products of wgsl/field/quadratic.wgsl. It runs the same programs and throws
 * where the shader's integers would overflow.
 */
import type { Modulus } from '../../src/field/modulus.js';
import { type Part, quadraticProduct, quadraticSquare } from '../../src/field/quadratic-product.js';
import type { Limbs } from '../../src/field/straight-line.js';
import { type Rounding, roundings } from './field.js';
import { runStraightLine } from './straight-line.js';

/** Limbs of c0 and of c1. */
export type PairLimbs = readonly (readonly number[])[];

const named = (name: string, pair: PairLimbs): Record<string, number> =>
  Object.fromEntries(pair.flatMap((limbs, part) => limbs.map((limb, i) => [`${name}.c${part}.l${i}`, limb])));

const both = (
  make: (part: Part, minus: readonly string[]) => Limbs,
  inputs: Record<string, number>,
  minus: readonly PairLimbs[],
  rounding: Rounding,
): number[][] => {
  const names = minus.map((_, i) => `m${i}`);
  const all = Object.assign(inputs, ...minus.map((pair, i) => named(names[i] as string, pair)));
  return ([0, 1] as const).map((part) => {
    const { program, result } = make(part, names);
    const values = runStraightLine(program, all, roundings[rounding]);
    return result.map((name) => values.get(name) as number);
  });
};

/** Returns a·b·R⁻¹ minus others, of a loose a, a tight b and canonical others. */
export const quadraticProductLimbs = (
  m: Modulus,
  nonResidue: bigint,
  a: PairLimbs,
  b: PairLimbs,
  minus: readonly PairLimbs[],
  rounding: Rounding,
): number[][] =>
  both(
    (part, names) => quadraticProduct(m, nonResidue, part, names),
    { ...named('a', a), ...named('b', b) },
    minus,
    rounding,
  );

/** Returns a²·R⁻¹ minus others, of a tight a and canonical others. */
export const quadraticSquareLimbs = (
  m: Modulus,
  nonResidue: bigint,
  a: PairLimbs,
  minus: readonly PairLimbs[],
  rounding: Rounding,
): number[][] => both((part, names) => quadraticSquare(m, nonResidue, part, names), named('a', a), minus, rounding);
