/**
 * Claims of the programs of a kernel on floats, while the kernel is generated: each value is the
 * integer that its operation means, within its bound, and each result is right modulo p.
 */
import { vi } from 'vitest';
import { range } from '../../src/field/straight-line.js';
import { finish } from '../../src/scheduling/time-slice.js';
import type { WasmCurve } from '../../src/wasm/arithmetic/kernel-memory.js';
import type { FloatField } from '../../src/wasm/floats/float-field.js';
import { floatKernel } from '../../src/wasm/floats/float-kernel.js';
import type { FloatLine, FloatStatement } from '../../src/wasm/floats/float-line.js';
import { type FloatNumber, limbBounds } from '../../src/wasm/floats/float-products.js';
import {
  type Coordinate,
  type CoordinateAddend,
  type CoordinateLine,
  PointPrograms,
  type StoredAs,
} from '../../src/wasm/floats/point-programs.js';
import type { FloatValues } from '../reference/float-line.js';

/** A claim about the values of one run. @throws Error if it is wrong */
type Claim = (values: FloatValues) => void;

/** A program of a kernel, what it is given, and what it claims. */
export interface WatchedProgram {
  readonly field: FloatField;
  readonly statements: readonly FloatStatement[];
  readonly inputs: readonly { readonly number: FloatNumber; readonly as: StoredAs }[];
  /** Values that are −0 or 0. */
  readonly signs: readonly string[];
  readonly claims: readonly Claim[];
}

type MutableProgram = { readonly [K in 'inputs' | 'signs' | 'claims']: WatchedProgram[K][number][] };

const claim = (holds: boolean, text: string): void => {
  if (!holds) throw new Error(text);
};

/** Calls `after` with the result and the arguments of a method whenever it returns. */
const watch = <Of, Name extends keyof Of>(
  of: Of,
  name: Name,
  after: Of[Name] extends (...args: infer Args) => infer Result ? (result: Result, ...args: Args) => void : never,
): void => {
  const method = (of[name] as (...args: unknown[]) => unknown).bind(of);
  const watched = (...args: unknown[]): unknown => {
    const result = method(...args);
    (after as (...args: unknown[]) => void)(result, ...args);
    return result;
  };
  Object.assign(of as object, { [name]: watched });
};

/** Claims that a digit is a residue modulo 2^width, nearest to 0. */
const isCentred = (digit: bigint, width: number): boolean =>
  2n * digit >= -(1n << BigInt(width)) && 2n * digit <= 1n << BigInt(width);

/** Claims that products are exact, and so are the parts that columns are split into. */
const watchIntegers = (line: FloatLine, { claims }: MutableProgram): void => {
  const { width } = line.field;
  const unit = 1n << BigInt(width);
  watch(line, 'product', ({ low, high }, a, b) => {
    claims.push((v) => {
      const product = v.integerOf(a) * (typeof b === 'number' ? BigInt(b) : v.integerOf(b));
      claim(v.known(low) + unit * v.known(high) === product, `${low.name} and ${high.name} are not ${product}`);
      claim(isCentred(v.known(low), width), `${low.name} is not the nearest`);
    });
  });
  watch(line, 'quotientDigit', ({ digit, carry }, low, n0, p0) => {
    claims.push((v) => {
      const [q, own] = [v.integerOf(digit), v.integerOf(low)];
      claim(isCentred(q, width) && (q - own * BigInt(n0)) % unit === 0n, `the digit ${digit.name} is ${q}`);
      claim(unit * v.known(carry) === own + q * BigInt(p0), `${carry.name} is not the quotient`);
    });
  });
  watch(line, 'limb', (limb, column) => {
    claims.push((v) => {
      const low = v.integerOf(limb);
      claim(isCentred(low, width) && (v.known(column) - low) % unit === 0n, `the limb ${limb.name} is ${low}`);
    });
  });
  watch(line, 'carry', (carry, column) => {
    claims.push((v) => {
      const low = v.known(column) - unit * v.known(carry);
      claim(isCentred(low, width), `${carry.name} leaves ${low}`);
    });
  });
};

/** Claims that the other operations are exact. */
const watchFloats = (line: FloatLine, { claims, signs }: MutableProgram): void => {
  watch(line, 'sign', (name) => signs.push(name));
  watch(line, 'subtract', (result, a, b) => {
    claims.push((v) => claim(v.integerOf(result) === v.integerOf(a) - v.integerOf(b), `${result.name} is rounded`));
  });
  watch(line, 'times', (result, a, factor) => {
    claims.push((v) => claim(v.integerOf(result) === v.integerOf(a) * BigInt(factor), `${result.name} is rounded`));
  });
  watch(line, 'signed', (result, a, mask) => {
    claims.push((v) => {
      const sign = v.bits(mask) === 0n ? 1n : -1n;
      claim(v.integerOf(result) === sign * v.integerOf(a), `the sign of ${result.name} is wrong`);
    });
  });
  watch(line, 'toInteger', (result, a, negate) => {
    claims.push((v) => claim(v.known(result) === (negate ? -1n : 1n) * v.integerOf(a), `${result.name} is rounded`));
  });
  watch(line, 'toFloat', (result, a) => {
    claims.push((v) => claim(v.integerOf(result) === v.known(a), `${result.name} is rounded`));
  });
  watch(line, 'multiple', (result, a, factor) => {
    claims.push((v) => claim(v.known(result) === v.integerOf(a) * BigInt(factor), `${result.name} is rounded`));
  });
  watch(line, 'rounded', (result, a, factor) => {
    claims.push((v) => {
      const apart = Number(v.integerOf(result)) - v.double(a.name) * factor;
      claim(Math.abs(apart) <= 0.5 + 2 ** -40, `${result.name} is ${apart} off`);
    });
  });
};

/** Claims that results are right modulo p, and within the bounds that their users assume. */
const watchCoordinates = (c: CoordinateLine, field: FloatField, nonResidue: bigint, own: MutableProgram): void => {
  const { p, width, limbs } = field;
  const R = 1n << BigInt(width * limbs);
  const numberOf = (v: FloatValues, { limbs: all, most }: FloatNumber): bigint => {
    const value = all.reduceRight((sum, limb) => (sum << BigInt(width)) + v.integerOf(limb), 0n);
    const bound = BigInt(Math.ceil(most * 2 ** 60)) * p;
    claim(value << 60n <= bound && -value << 60n <= bound, `'${all[0]?.name}' is a number above ${most}·p`);
    return value;
  };
  const valuesOf = (v: FloatValues, numbers: Coordinate): bigint[] => numbers.map((number) => numberOf(v, number));
  const isRight = (
    v: FloatValues,
    result: Coordinate,
    products: readonly bigint[],
    addends: readonly CoordinateAddend[],
  ) => {
    for (const [i, value] of valuesOf(v, result).entries()) {
      const added = addends.reduce((sum, [a, sign]) => sum + BigInt(sign) * numberOf(v, a[i] as FloatNumber), 0n);
      claim(((value - added) * R - (products[i] ?? 0n)) % p === 0n, `${result[i]?.limbs[0]?.name} is wrong`);
    }
  };
  const productOf = ([a0, a1]: bigint[], [b0, b1]: bigint[]): bigint[] =>
    a1 === undefined ? [a0! * b0!] : [a0! * b0! + nonResidue * a1 * b1!, a0! * b1! + a1 * b0!];
  const { claims, inputs } = own;
  const isGiven = (numbers: Coordinate, as: StoredAs): void => {
    inputs.push(...numbers.map((number) => ({ number, as })));
  };
  watch(c, 'load', (numbers, _, as = { most: numbers[0]?.most as number, terms: 1 }) => isGiven(numbers, as));
  watch(c, 'loadNumber', (numbers, _, as = { most: numbers[0]?.most as number, terms: 1 }) => isGiven(numbers, as));
  watch(c, 'given', (numbers, _, as) => isGiven(numbers, as));
  watch(c, 'products', (result, pairs, addends) => {
    claims.push((v) => {
      const products = pairs.map(([a, b]) => productOf(valuesOf(v, a), valuesOf(v, b)));
      const sums = range(result.length).map((i) => products.reduce((sum, product) => sum + (product[i] as bigint), 0n));
      isRight(v, result, sums, addends);
    });
  });
  watch(c, 'sum', (result, addends) => claims.push((v) => isRight(v, result, [], addends)));
  watch(c, 'norm', (result, a) => {
    claims.push((v) => {
      const [a0, a1] = valuesOf(v, a) as [bigint, bigint];
      isRight(v, result, [a0 ** 2n - nonResidue * a1 ** 2n], []);
    });
  });
  watch(c, 'conjugateTimes', (result, a, n) => {
    claims.push((v) => {
      const [a0, a1, factor] = [...valuesOf(v, a), ...valuesOf(v, n)] as [bigint, bigint, bigint];
      isRight(v, result, [a0 * factor, -a1 * factor], []);
    });
  });
  watch(c, 'assertWithin', (_, numbers, as) => {
    const bounds = limbBounds(field, as.most, as.terms);
    claims.push((v) => {
      for (const number of numbers) {
        numberOf(v, { ...number, most: as.most });
        for (const [i, limb] of number.limbs.entries()) v.integerOf({ ...limb, most: bounds[i] as number });
      }
    });
  });
};

/** Generates a kernel. @returns its programs; null if the form does not have its field */
export const watchKernel = (curve: WasmCurve): WatchedProgram[] | null => {
  let programs: WatchedProgram[] = [];
  let owner: PointPrograms | null = null;
  const { begin } = PointPrograms.prototype;
  const spy = vi.spyOn(PointPrograms.prototype, 'begin').mockImplementation(function (this: PointPrograms, prefix) {
    // a kernel that settles too little is given up for another one of the same field
    if (owner === null || (this.field === owner.field && this !== owner)) [owner, programs] = [this, []];
    const c = begin.call(this, prefix);
    const own = { field: this.field, statements: c.line.statements, inputs: [], signs: [], claims: [] };
    watchIntegers(c.line, own);
    watchFloats(c.line, own);
    watchCoordinates(c, this.field, curve.nonResidue ?? 0n, own);
    programs.push(own);
    return c;
  });
  try {
    return finish(floatKernel(curve)) === null ? null : programs;
  } finally {
    spy.mockRestore();
  }
};
