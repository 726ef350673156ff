/** A key in the engines that compute with it: its vectors on one backend. */
import type { Bases, MsmEngine } from '../api/engine.js';
import type { FieldEngine, FieldOperations, FieldVector } from '../api/fields.js';
import type { CircuitFacts } from '../proofs/api.js';
import type { CircuitPolynomial } from '../proofs/plonkish/circuit.js';
import { type Domain, onCoset, pointsOfCoset } from '../proofs/plonkish/domain.js';
import { circuitPolynomials, type PlonkCircuit } from './circuit.js';

/** Values on a coset of the roots of unity of order `size`, in reversed order. */
export interface CosetValues extends Readonly<Record<CircuitPolynomial, FieldVector>> {
  /** The points themselves. */
  readonly x: FieldVector;
  /** 1/(X^n − 1). */
  readonly vanishingInverse: FieldVector;
  /** The first Lagrange polynomial. */
  readonly l1: FieldVector;
}

export interface LoadedKey
  extends CircuitFacts,
    Pick<PlonkCircuit, 'k1' | 'k2' | 'commitments' | 'tau2' | 'additions' | 'wires'> {
  readonly fr: FieldEngine;
  readonly g1: MsmEngine;
  readonly domain: Domain;
  /** Powers of τ. */
  readonly bases: Bases;
  readonly coefficients: Readonly<Record<CircuitPolynomial, FieldVector>>;
  /** Values of the permutations at the n-th roots of unity. */
  readonly permutations: readonly [FieldVector, FieldVector, FieldVector];
  /** Ones, as many as the coset has elements. */
  readonly ones: FieldVector;
  /** null where they would take too much memory; then each proof computes them. */
  readonly cosetValues: CosetValues | null;
}

/** Length of the coset: more than that of a quotient whose numerator has the degree 4n + 5. */
export const cosetLength = (n: number): number => (3 * n + 6 <= 4 * n ? 4 * n : 8 * n);

/** Records the values on the coset that all proofs use. */
export const computeCosetValues = (
  ops: FieldOperations,
  { domain, coefficients, ones }: Pick<LoadedKey, 'domain' | 'coefficients' | 'ones'>,
  p: bigint,
): CosetValues => {
  const { x, vanishing } = pointsOfCoset(ops, domain, ones, p);
  const polynomials = Object.fromEntries(
    circuitPolynomials.map((name) => [name, onCoset(ops, domain, coefficients[name])]),
  ) as Record<CircuitPolynomial, FieldVector>;
  const lower = ops.scale(ops.subtract(x, ones), BigInt(domain.n));
  return {
    ...polynomials,
    x,
    vanishingInverse: ops.invert(vanishing),
    l1: ops.multiply(vanishing, ops.invert(lower)),
  };
};
