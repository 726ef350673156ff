/** The fields that coordinates are in: of p elements, or of p². What is the same for both is written for this. */
import type { Coordinate } from '../api/values.js';
import type { Template, TemplateView } from '../shaders/template.js';
import { type Degree, fromMontgomery, type Modulus, readWords, toMontgomery, writeWords } from './modulus.js';
import { range } from './straight-line.js';

/**
 * A field, on the CPU and in shaders.
 *
 * On the CPU nothing is reduced but what says so: sums, differences and multiples may be of either sign and as large as they come; a product has
 * coefficients within p of 0.
 */
export interface Field {
  readonly prime: Modulus;
  readonly degree: Degree;
  /** u², where elements are pairs c0 + c1·u. */
  readonly nonResidue: bigint | null;
  /** How many elements there are. */
  readonly size: bigint;
  /** Of an element in storage, where coefficients stand one behind the other. */
  readonly words: number;
  readonly bytes: number;
  readonly zero: Coordinate;
  readonly one: Coordinate;

  sum(a: Coordinate, b: Coordinate): Coordinate;
  difference(a: Coordinate, b: Coordinate): Coordinate;
  multiple(a: Coordinate, factor: bigint): Coordinate;
  product(a: Coordinate, b: Coordinate): Coordinate;
  /** Of any element. */
  isZero(a: Coordinate): boolean;
  /** Coefficients in [0, p). */
  reduced(a: Coordinate): Coordinate;
  /** Reduced; 0 for 0. */
  inverse(a: Coordinate): Coordinate;

  /** `degree` numbers, c0 first. */
  coefficients(a: Coordinate): readonly bigint[];
  of(coefficients: readonly bigint[]): Coordinate;

  /** The same over a prime that is computed with otherwise. */
  over(prime: Modulus): Field;

  /**
   * What shaders that include `field` and `inverse` are rendered with.
   *
   * @param holds the kernel calls hold_constants where the view has `held`: with signed products
   */
  view(holds?: boolean): TemplateView;
  /** What they include by other names, or instead. */
  readonly partials: Readonly<Record<string, Template>>;
  /** The arguments of a WGSL `Tight(…)` that is this element in Montgomery form. */
  literal(a: Coordinate): string;
}

/** Coefficient by coefficient. */
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

export const elementToMontgomery = (field: Field, a: Coordinate): Coordinate =>
  each(field, a, (value) => toMontgomery(field.prime, value));
export const elementFromMontgomery = (field: Field, a: Coordinate): Coordinate =>
  each(field, a, (value) => fromMontgomery(field.prime, value));

/** Whether all of its coefficients are in [0, p). */
export const isReduced = (field: Field, a: Coordinate): boolean =>
  field.coefficients(a).every((value) => value >= 0n && value < field.prime.p);
