import type { Coordinate } from '../api/values.js';
import type { Field } from './field.js';
import { invert, type Modulus, mod } from './modulus.js';
import { fieldLiteral } from './statements.js';
import { fieldView } from './wgsl.js';

/** Casts an element of this field. Callers pass no others. */
const number = (a: Coordinate): bigint => a as bigint;

/** Makes the field F_p, whose elements are BigInts. */
export const primeField = (prime: Modulus): Field => {
  const { p } = prime;
  return {
    prime,
    degree: 1,
    nonResidue: null,
    size: p,
    words: prime.words,
    bytes: prime.bytes,
    zero: 0n,
    one: 1n,
    sum: (a, b) => number(a) + number(b),
    difference: (a, b) => number(a) - number(b),
    multiple: (a, factor) => number(a) * factor,
    product: (a, b) => (number(a) * number(b)) % p,
    isZero: (a) => number(a) % p === 0n,
    reduced: (a) => mod(number(a), p),
    inverse: (a) => invert(number(a), p),
    coefficients: (a) => [number(a)],
    of: ([a]) => a as bigint,
    over: primeField,
    view: () => fieldView(prime),
    partials: {},
    literal: (a) => fieldLiteral(prime, number(a)),
  };
};
