/** The domain of a circuit, and a coset of roots of unity that is longer than its products. */
import type { FieldEngine, FieldOperations, FieldVector } from '../../api/fields.js';
import { power } from '../../field/powers.js';
import type { OpenField } from '../../fields/program/open-field.js';

export interface Domain {
  readonly n: number;
  readonly root: bigint;
  /** Length of the coset. */
  readonly size: number;
  readonly sizeRoot: bigint;
  readonly coset: bigint;
}

/** @param size length of the coset, a power of two that the field has roots for */
export const domainOf = ({ p, twoAdicity, rootOfUnity }: OpenField, n: number, size: number): Domain => {
  const rootOf = (length: number): bigint => power(rootOfUnity, BigInt(2 ** twoAdicity / length), p);
  let coset = 2n;
  while (power(coset, BigInt(size), p) === 1n) coset++;
  return { n, root: rootOf(n), size, sizeRoot: rootOf(size), coset };
};

/** Returns the values of a polynomial on the coset, in reversed order. */
export const onCoset = (ops: FieldOperations, { size, coset }: Domain, coefficients: FieldVector): FieldVector =>
  ops.ntt(ops.pad(coefficients, size), { to: 'reversed', coset });

/** Interpolates a polynomial by its values on the coset. */
export const fromCoset = (ops: FieldOperations, { coset }: Domain, values: FieldVector): FieldVector =>
  ops.intt(values, { from: 'reversed', coset });

/** Loads as many ones as the coset has elements. */
export const loadOnes = (
  fr: FieldEngine,
  { size }: Domain,
  options: { readonly signal?: AbortSignal },
): Promise<FieldVector> => {
  const one = new Uint8Array(size * fr.numberBytes);
  for (let i = 0; i < one.length; i += fr.numberBytes) one[i] = 1;
  return fr.load(one, options);
};

/** Returns the points of the coset, and X^n − 1 there, in reversed order. */
export const pointsOfCoset = (
  ops: FieldOperations,
  { n, sizeRoot, coset }: Domain,
  ones: FieldVector,
  p: bigint,
): { readonly x: FieldVector; readonly vanishing: FieldVector } => {
  const order = 'reversed';
  const powers = ops.scalePowers(ones, power(sizeRoot, BigInt(n), p), { order, factor: power(coset, BigInt(n), p) });
  return { x: ops.scalePowers(ones, sizeRoot, { order, factor: coset }), vanishing: ops.subtract(powers, ones) };
};
