/** The interface of coordinate fields, F_p and F_p²; functions for both; and F_p. */
import type { Coordinate } from '../api/values.js';
import type { Template, TemplateView } from '../shaders/template.js';
import {
  type Degree,
  fromMontgomery,
  invert,
  type Modulus,
  mod,
  readWords,
  toMontgomery,
  writeWords,
} from './modulus.js';
import { range } from './straight-line.js';
import { fieldLiteral, fieldView } from './wgsl.js';

/* The interface of coordinate fields, F_p and F_p², and functions for both. */

/**
 * A coordinate field, on the CPU and in shaders.
 *
 * On the CPU, results are reduced only where a method says so: sums, differences and multiples may
 * have any sign and size; coefficients of products are in (−p, p).
 */
export interface Field {
  /** The prime p and its constants. */
  readonly prime: Modulus;
  /** Degree over F_p. */
  readonly degree: Degree;
  /** u² if elements are pairs c0 + c1·u; null for F_p. */
  readonly nonResidue: bigint | null;
  /** Number of elements: p or p². */
  readonly size: bigint;
  /** Words of a stored element, c0 before c1. */
  readonly words: number;
  /** Bytes of a stored element. */
  readonly bytes: number;
  readonly zero: Coordinate;
  readonly one: Coordinate;

  sum(a: Coordinate, b: Coordinate): Coordinate;
  difference(a: Coordinate, b: Coordinate): Coordinate;
  multiple(a: Coordinate, factor: bigint): Coordinate;
  product(a: Coordinate, b: Coordinate): Coordinate;
  /** Returns whether an element, reduced or not, is zero. */
  isZero(a: Coordinate): boolean;
  /** Returns the element with coefficients in [0, p). */
  reduced(a: Coordinate): Coordinate;
  /** Returns the reduced inverse; 0 for 0. */
  inverse(a: Coordinate): Coordinate;

  /** Returns the coefficients, c0 first. */
  coefficients(a: Coordinate): readonly bigint[];
  /** Returns the element with these coefficients. */
  of(coefficients: readonly bigint[]): Coordinate;

  /** Returns the same field with another kind of product. */
  over(prime: Modulus): Field;

  /** Returns the view for shaders that include `field` and `inverse`. */
  view(): TemplateView;
  /** Templates that such shaders include instead of those of F_p. */
  readonly partials: Readonly<Record<string, Template>>;
  /** Returns the arguments of a WGSL `Tight(…)`: an element in Montgomery form. */
  literal(a: Coordinate): string;
}

/** Maps each coefficient. */
const each = (field: Field, a: Coordinate, change: (coefficient: bigint) => bigint): Coordinate =>
  field.of(field.coefficients(a).map(change));

/** Reads one stored element. */
export const readElement = (field: Field, source: Uint32Array, at: number): Coordinate => {
  const { words } = field.prime;
  return field.of(range(field.degree).map((i) => readWords(source, at + i * words, words)));
};

/** Writes one stored element. */
export const writeElement = (field: Field, target: Uint32Array, at: number, a: Coordinate): void => {
  const { words } = field.prime;
  for (const [i, value] of field.coefficients(a).entries()) writeWords(target, at + i * words, words, value);
};

/** Converts an element to Montgomery form. */
export const elementToMontgomery = (field: Field, a: Coordinate): Coordinate =>
  each(field, a, (value) => toMontgomery(field.prime, value));
/** Converts an element from Montgomery form. */
export const elementFromMontgomery = (field: Field, a: Coordinate): Coordinate =>
  each(field, a, (value) => fromMontgomery(field.prime, value));

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
