/** Functions on coordinates in a quadratic extension: pairs c0 + c1·u. */
import type { Local } from '../encoder/code.js';
import type { WasmModule } from '../encoder/module.js';
import { callWith } from './addresses.js';
import { type ElementMemory, type Elements, type FieldFunctions, signedFormula, subtractFormula } from './elements.js';
import { type Formula, plainProduct } from './formula.js';
import type { Lanes } from './lane-code.js';
import { PairFunctions } from './pair-functions.js';

/** A parameter in all lanes. */
type P = Local[];

const differenceProduct: Formula = {
  parameters: ['to', 'a', 'b', 'c', 'd'],
  factors: [
    { of: 'a', less: 'b' },
    { of: 'c', less: 'd' },
  ],
};

const sumLess: Formula = {
  parameters: ['to', 'a', 'b', 'c'],
  plus: [
    [{ of: 'a' }, 1],
    [{ of: 'b' }, 1],
    [{ of: 'c' }, -1],
  ],
};

const lessBoth: Formula = {
  parameters: ['to', 'a', 'b', 'c'],
  plus: [
    [{ of: 'a' }, 1],
    [{ of: 'b' }, -1],
    [{ of: 'c' }, -1],
  ],
};

const signedDifference: Formula = {
  parameters: ['to', 'b', 'sb', 'c', 'sc'],
  plus: [[{ of: 'b', sign: 'sb', less: 'c', lessSign: 'sc' }, 1]],
};

/** a + times·b. */
const plusMultiple = (times: number): Formula => ({
  parameters: ['to', 'a', 'b'],
  plus: [
    [{ of: 'a' }, 1],
    [{ of: 'b' }, times],
  ],
});

/**
 * Adds products of pairs by Karatsuba's method: a0·b1 + a1·b0 = a0·b0 + a1·b1 − (a0 − a1)(b0 − b1).
 * Differences are used since their limbs are no longer than those of elements; sums would not fit
 * 64 bits.
 */
const addProducts = (
  pairs: PairFunctions,
  nonResidue: number,
): { readonly multiply: number; readonly multiplyPrime: number } => {
  const multiplyPrime = pairs.prime(plainProduct);
  const multiplyDifferences = pairs.prime(differenceProduct);
  const addMultiple = pairs.prime(plusMultiple(nonResidue));
  const addLess = pairs.prime(sumLess);
  const [low, high, cross] = [pairs.scratch(), pairs.scratch(), pairs.scratch()];
  const multiply = pairs.define<[P, P, P]>(3, (code, to, a, b) => {
    const [a0, a1] = [code.half(a, 0), code.half(a, 1)];
    const [b0, b1] = [code.half(b, 0), code.half(b, 1)];
    code.call(multiplyPrime, low, a0, b0);
    code.call(multiplyPrime, high, a1, b1);
    code.call(multiplyDifferences, cross, a0, a1, b0, b1);
    code.call(addMultiple, code.half(to, 0), low, high);
    code.call(addLess, code.half(to, 1), low, high, cross);
  });
  return { multiply, multiplyPrime };
};

/** Functions of the prime field that functions on one pair call. */
interface PrimeFunctions {
  readonly multiply: number;
  readonly signed: number;
  readonly subtract: number;
  readonly invert: number;
  readonly isZero: number;
  /** (to, a, b): a − u²·b. */
  readonly norm: number;
}

/** Adds the functions on several pairs. */
const addLaneFunctions = (
  pairs: PairFunctions,
  multiply: number,
  prime: { readonly less: number; readonly signedDifference: number },
  scratch: { readonly work: number[]; readonly zero: number[]; readonly plus: number[] },
): Pick<Elements, 'chain' | 'slope' | 'abscissa' | 'ordinate'> => {
  const { less } = prime;
  const { work, zero, plus } = scratch;
  return {
    chain: pairs.define<[P, P, P, P, P]>(5, (code, to, kept, a, b, c) => {
      code.both(less, kept, b, c, zero);
      code.call(multiply, to, a, kept);
    }),
    slope: pairs.define<[P, P, P, P, P, P]>(6, (code, to, a, b, sb, c, sc) => {
      code.both(prime.signedDifference, work, b, { sign: sb }, c, { sign: sc });
      code.call(multiply, to, a, work);
    }),
    abscissa: pairs.define<[P, P, P, P]>(4, (code, to, slope, x1, x2) => {
      code.call(multiply, work, slope, slope);
      code.both(less, to, work, x1, x2);
    }),
    ordinate: pairs.define<[P, P, P, P, P, P]>(6, (code, to, slope, x1, x3, y1, s1) => {
      code.both(less, work, x1, x3, zero);
      code.call(multiply, work, slope, work);
      code.both(prime.signedDifference, to, work, { sign: plus }, y1, { sign: s1 });
    }),
  };
};

/** Adds 1/(c0 + c1·u) = (c0 − c1·u) / (c0² − u²·c1²). */
const addInvert = (
  one: PairFunctions,
  prime: PrimeFunctions,
  { norm, square, minus }: { readonly norm: number; readonly square: number; readonly minus: number },
): number =>
  one.define<[P, P]>(2, (code, to, a) => {
    const [c0, c1] = [code.half(a, 0), code.half(a, 1)];
    code.call(prime.multiply, [norm], c0, c0);
    code.call(prime.multiply, [square], c1, c1);
    code.call(prime.norm, [norm], [norm], [square]);
    code.call(prime.invert, [norm], [norm]);
    code.call(prime.multiply, code.half(to, 0), c0, [norm]);
    code.call(prime.multiply, [square], c1, [norm]);
    code.call(prime.signed, code.half(to, 1), [square], [minus]);
  });

/** Adds the functions on one pair. */
const addOneFunctions = (
  module: WasmModule,
  functions: FieldFunctions,
  one: PairFunctions,
  prime: PrimeFunctions,
  scratch: { readonly norm: number; readonly square: number; readonly minus: number },
): Pick<Elements, 'signedOne' | 'subtractOne' | 'isZero' | 'invert'> => ({
  signedOne: one.define<[P, P, P]>(3, (code, to, a, s) => code.both(prime.signed, to, a, { sign: s })),
  subtractOne: one.define<[P, P, P, P]>(4, (code, to, a, b, s) => code.both(prime.subtract, to, a, b, { sign: s })),
  isZero: module.add(null, { parameters: ['i32'], result: 'i32' }, (code) => {
    for (const c of [0, functions.bytes]) callWith(code, prime.isZero, [[code.parameter(0), c]]);
    code.do('i32.and');
  }),
  invert: addInvert(one, prime, scratch),
});

/** @param nonResidue u² */
export const quadraticElements = (
  module: WasmModule,
  functions: FieldFunctions,
  nonResidue: number,
  lanes: Lanes,
  memory: ElementMemory,
): Elements => {
  const many = new PairFunctions(module, functions, lanes, memory);
  const products = addProducts(many, nonResidue);
  const one = lanes === 1 ? many : new PairFunctions(module, functions, 1, memory);
  const productsOfOne = lanes === 1 ? products : addProducts(one, nonResidue);
  const [work, zero] = [many.scratch(), many.scratch()];
  const laneFunctions = {
    less: many.prime(lessBoth),
    signedDifference: many.prime(signedDifference),
  };
  const signed = functions.formula(1, signedFormula);
  const subtract = functions.formula(1, subtractFormula);
  const prime: PrimeFunctions = {
    multiply: productsOfOne.multiplyPrime,
    signed,
    subtract,
    invert: functions.inverse(memory, signed),
    isZero: functions.isZero(),
    norm: one.prime(plusMultiple(-nonResidue)),
  };
  const [norm, square] = [memory.take(functions.bytes), memory.take(functions.bytes)];
  const { multiply, multiplyPrime } = products;
  return {
    multiply,
    multiplyPrime,
    multiplyByKept: multiply,
    ...addLaneFunctions(many, multiply, laneFunctions, { work, zero, plus: many.same(memory.plus) }),
    multiplyOne: productsOfOne.multiply,
    ...addOneFunctions(module, functions, one, prime, { norm, square, minus: memory.minus }),
  };
};
