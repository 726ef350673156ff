/** A key in the engines that compute with it: its vectors on one backend. */
import type { Bases, MsmEngine } from '../api/engine.js';
import type { FieldEngine, FieldOperations, FieldVector } from '../api/fields.js';
import type { CircuitFacts } from '../proofs/api.js';
import type { CircuitPolynomial } from '../proofs/plonkish/circuit.js';
import { type Domain, onCoset, pointsOfCoset } from '../proofs/plonkish/domain.js';
import type { Selectors, Wires } from '../proofs/plonkish/relations.js';
import type { FflonkCircuit } from './circuit.js';

/** Vectors of the gates' quotient: on the coset of 2n elements, in reversed order. */
export interface GateValues {
  readonly selectors: Selectors;
  /** 1/(X^n − 1). */
  readonly vanishingInverse: FieldVector;
}

/** Vectors of the permutation's quotient: on the coset of 4n elements, in reversed order. */
export interface PermutationCoset {
  /** The points themselves. */
  readonly x: FieldVector;
  readonly permutations: Wires;
  /** 1/(X^n − 1). */
  readonly vanishingInverse: FieldVector;
}

export interface LoadedKey
  extends CircuitFacts,
    Pick<FflonkCircuit, 'k1' | 'k2' | 'commitment' | 'tau2' | 'additions' | 'wires'> {
  readonly fr: FieldEngine;
  readonly g1: MsmEngine;
  /** The coset has 4n elements. */
  readonly domain: Domain;
  /** Powers of τ. */
  readonly bases: Bases;
  readonly coefficients: Readonly<Record<CircuitPolynomial, FieldVector>>;
  /** All coefficients interleaved. */
  readonly c0: FieldVector;
  /** Values of the selectors at the n-th roots of unity. */
  readonly selectors: Selectors;
  /** Values of the permutations there. */
  readonly permutations: Wires;
  /** Ones, as many as the coset has elements. */
  readonly ones: FieldVector;
  /** null where they would take too much memory; then each proof computes them. */
  readonly cosets: { readonly gates: GateValues; readonly permutation: PermutationCoset } | null;
}

/** Parts of a key that values on cosets follow from. */
export type Interpolated = Pick<LoadedKey, 'domain' | 'coefficients' | 'ones'>;

/**
 * Returns the first half of a coset: its values in reversed order are the first half of those of
 * the whole coset.
 */
export const halfOf = (domain: Domain, p: bigint): Domain => ({
  ...domain,
  size: domain.size / 2,
  sizeRoot: (domain.sizeRoot * domain.sizeRoot) % p,
});

/** Records the values that the quotient of the gates takes. */
export const computeGateValues = (ops: FieldOperations, key: Interpolated, p: bigint): GateValues => {
  const half = halfOf(key.domain, p);
  const { vanishing } = pointsOfCoset(ops, half, ops.slice(key.ones, 0, half.size), p);
  const { qm, ql, qr, qo, qc } = key.coefficients;
  const there = (coefficients: FieldVector): FieldVector => onCoset(ops, half, coefficients);
  return {
    selectors: { qm: there(qm), ql: there(ql), qr: there(qr), qo: there(qo), qc: there(qc) },
    vanishingInverse: ops.invert(vanishing),
  };
};

/** Records the values that the quotient of the permutation takes. */
export const computePermutationCoset = (
  ops: FieldOperations,
  { domain, coefficients, ones }: Interpolated,
  p: bigint,
): PermutationCoset => {
  const { x, vanishing } = pointsOfCoset(ops, domain, ones, p);
  const { s1, s2, s3 } = coefficients;
  const there = (permutation: FieldVector): FieldVector => onCoset(ops, domain, permutation);
  return { x, permutations: [there(s1), there(s2), there(s3)], vanishingInverse: ops.invert(vanishing) };
};
