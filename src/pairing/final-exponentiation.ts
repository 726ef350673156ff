/** The final exponentiation of pairings, by a multiple of (p¹² − 1)/r that r does not divide. */
import { nonAdjacentForm } from '../curves/membership.js';
import type { TimeSlice } from '../scheduling/time-slice.js';
import { conjugate, type Fp12 } from './extension.js';
import type { PairingCurve } from './pairing-curves.js';

/** The subgroup of order p⁴ − p² + 1, in which the conjugate is the inverse. */
class Subgroup {
  readonly #curve: PairingCurve;
  readonly #slice: TimeSlice;

  constructor(curve: PairingCurve, slice: TimeSlice) {
    this.#curve = curve;
    this.#slice = slice;
  }

  product(...factors: readonly Fp12[]): Fp12 {
    return factors.reduce((all, each) => this.#curve.field.product(all, each));
  }

  frobenius(a: Fp12, times: number): Fp12 {
    return this.#curve.field.frobenius(a, times);
  }

  /** Returns a to the power of an exponent that is not 0. */
  async power(a: Fp12, exponent: bigint): Promise<Fp12> {
    const { field } = this.#curve;
    const negative = conjugate(a);
    const [, ...digits] = nonAdjacentForm(exponent < 0n ? -exponent : exponent);
    let result = a;
    for (const digit of digits) {
      result = field.square(result);
      if (digit !== 0) result = field.product(result, digit === 1 ? a : negative);
      if (this.#slice.isOver) await this.#slice.yield();
    }
    return exponent < 0n ? conjugate(result) : result;
  }
}

/**
 * Returns f to the power 2x·(6x² + 3x + 1)·(p⁴ − p² + 1)/r: Fuentes-Castañeda, Knapp and
 * Rodríguez-Henríquez, "Faster hashing to G2" (SAC 2011), section 5.
 */
const ofBn = async (group: Subgroup, f: Fp12, x: bigint): Promise<Fp12> => {
  const x2 = await group.power(f, 2n * x);
  const x6 = group.product(x2, x2, x2);
  const xx6 = await group.power(x6, x);
  const xxx12 = await group.power(group.product(xx6, xx6), x);
  const a = group.product(xxx12, xx6, x6);
  const b = group.product(a, conjugate(x2));
  return group.product(
    group.product(a, xx6, f),
    group.frobenius(b, 1),
    group.frobenius(a, 2),
    group.frobenius(group.product(b, conjugate(f)), 3),
  );
};

/**
 * Returns f to the power 3·(p⁴ − p² + 1)/r = (x − 1)²·(x + p)·(x² + p² − 1) + 3: Hayashida,
 * Hayasaka and Teruya, https://eprint.iacr.org/2020/875, section 4.
 */
const ofBls12 = async (group: Subgroup, f: Fp12, x: bigint): Promise<Fp12> => {
  const first = await group.power(await group.power(f, x - 1n), x - 1n);
  const second = group.product(await group.power(first, x), group.frobenius(first, 1));
  const third = group.product(
    await group.power(await group.power(second, x), x),
    group.frobenius(second, 2),
    conjugate(second),
  );
  return group.product(third, f, f, f);
};

/** Returns a value of a pairing from a product of Miller functions. */
export const finalExponentiation = async (curve: PairingCurve, value: Fp12, slice: TimeSlice): Promise<Fp12> => {
  const { field, family, seed } = curve;
  // to the power (p⁶ − 1)·(p² + 1)
  const easy = field.product(conjugate(value), field.inverse(value));
  const inSubgroup = field.product(field.frobenius(easy, 2), easy);
  return (family === 'bn' ? ofBn : ofBls12)(new Subgroup(curve, slice), inSubgroup, seed);
};
