/**
 * The circuit in an FFLONK `.zkey`. The header has four roots of unity, which follow from the
 * domain, and one commitment to all polynomials. Each of the sections 7 to 14 has one of them.
 * Section 17 has them interleaved, and is not read.
 */

import type { Bases, MsmEngine } from '../api/engine.js';
import type { FieldEngine, FieldOperations, FieldVector } from '../api/fields.js';
import type { PlonkZkey } from '../formats/zkey.js';
import type { CircuitFacts } from '../proofs/api.js';
import {
  type CircuitPolynomial,
  openHeader,
  type PlonkishCircuit,
  type PolynomialPlaces,
  readPolynomials,
  readWiring,
} from '../proofs/plonkish/circuit.js';
import { type Domain, onCoset, pointsOfCoset, type Selectors, type Wires } from '../proofs/plonkish/relations.js';

/** Places of the polynomials. */
export const places: PolynomialPlaces = {
  ql: { section: 7, name: 'QL' },
  qr: { section: 8, name: 'QR' },
  qm: { section: 9, name: 'QM' },
  qo: { section: 10, name: 'QO' },
  qc: { section: 11, name: 'QC' },
  s1: { section: 12, name: 'sigma 1' },
  s2: { section: 13, name: 'sigma 2' },
  s3: { section: 14, name: 'sigma 3' },
};

/** Names of the polynomials in the order in which C0 has them. */
export const circuitPolynomials: readonly CircuitPolynomial[] = ['ql', 'qr', 'qo', 'qm', 'qc', 's1', 's2', 's3'];

/** Rows at the end of the domain whose wires are random. */
export const BLINDED_ROWS = 2;

/** Roots of unity in the header: of the orders 3, 4 and 8, and a cubic root of the domain's. */
const ROOTS = 4;

export interface FflonkCircuit extends PlonkishCircuit {
  /** Commitment to C0 as x‖y, big-endian. */
  readonly commitment: Uint8Array;
}

/** Reads the circuit of a key. @throws MsmError `bad-argument` naming the section; `aborted` */
export const readFflonkCircuit = async (zkey: PlonkZkey, signal: AbortSignal | undefined): Promise<FflonkCircuit> => {
  const header = await openHeader(zkey);
  for (let i = 0; i < ROOTS; i++) header.scalar();
  const tau2 = header.point2();
  const commitment = header.commitment();
  const wiring = await readWiring(zkey, header, BLINDED_ROWS, signal);
  const { k1, k2 } = header;
  return { k1, k2, tau2, commitment, ...wiring, coefficients: await readPolynomials(zkey, places) };
};

/* A key in the engines that compute with it: its vectors on one backend. */

/** Vectors of the gates' quotient: on the coset of 2n elements, in reversed order. */
interface GateValues {
  readonly selectors: Selectors;
  /** 1/(X^n − 1). */
  readonly vanishingInverse: FieldVector;
}

/** Vectors of the permutation's quotient: on the coset of 4n elements, in reversed order. */
interface PermutationCoset {
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
type Interpolated = Pick<LoadedKey, 'domain' | 'coefficients' | 'ones'>;

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
