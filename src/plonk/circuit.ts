/**
 * The circuit in a PLONK `.zkey`. The header has a commitment to each polynomial. Sections 7 to 11
 * have the selectors, and section 12 the three permutations.
 */

import type { MsmEngine } from '../api/engine.js';
import type { FieldEngine, FieldVector } from '../api/fields.js';
import type { PlonkZkey } from '../formats/zkey.js';
import type { CircuitFacts } from '../proofs/api.js';
import type { KeyPoints } from '../proofs/key-points.js';
import {
  type CircuitPolynomial,
  openHeader,
  type PlonkishCircuit,
  type PolynomialPlaces,
  readWiring,
} from '../proofs/plonkish/circuit.js';
import type { Column, ColumnValues } from '../proofs/plonkish/columns.js';
import type { Domain, Wires } from '../proofs/plonkish/relations.js';

const sigma = { section: 12, name: 'sigma', count: 3 } as const;

/** Places of the polynomials, in the order of their commitments. */
export const places: PolynomialPlaces = {
  qm: { section: 7, name: 'Qm' },
  ql: { section: 8, name: 'Ql' },
  qr: { section: 9, name: 'Qr' },
  qo: { section: 10, name: 'Qo' },
  qc: { section: 11, name: 'Qc' },
  s1: { ...sigma, index: 0 },
  s2: { ...sigma, index: 1 },
  s3: { ...sigma, index: 2 },
};

/** Names of the polynomials of a circuit, in the order of their commitments. */
export const circuitPolynomials = Object.keys(places) as CircuitPolynomial[];

export interface PlonkCircuit extends PlonkishCircuit {
  /** Commitments as x‖y, big-endian; infinity is zeros. */
  readonly commitments: readonly Uint8Array[];
}

/** Reads the circuit of a key. @throws MsmError `bad-argument` naming the section; `aborted` */
export const readPlonkCircuit = async (zkey: PlonkZkey, signal: AbortSignal | undefined): Promise<PlonkCircuit> => {
  const header = await openHeader(zkey);
  const commitments = circuitPolynomials.map(() => header.commitment());
  const tau2 = header.point2();
  const wiring = await readWiring(zkey, header, 0, signal);
  const { k1, k2 } = header;
  return { k1, k2, commitments, tau2, ...wiring };
};

/* A key in the engines that compute with it: its vectors on one backend. */

export interface LoadedKey
  extends CircuitFacts,
    Pick<PlonkCircuit, 'k1' | 'k2' | 'commitments' | 'tau2' | 'additions' | 'wires'> {
  readonly fr: FieldEngine;
  /** Prime of the scalar field. */
  readonly p: bigint;
  readonly g1: MsmEngine;
  readonly domain: Domain;
  /** Powers of τ. */
  readonly powers: KeyPoints<bigint>;
  /** Adds up the sums of pages; null if all powers are loaded. */
  readonly few: MsmEngine | null;
  /** Proofs that are under way at a time. */
  readonly proofsAtATime: number;
  /** The least `memoryLimit` that the key opens with, in bytes. */
  readonly leastLimit: number;
  readonly coefficients: Readonly<Record<CircuitPolynomial, FieldVector>>;
  /** Values of the permutations at the n-th roots of unity; null if each proof computes them. */
  readonly permutations: Wires | null;
  /** n ones. */
  readonly ones: FieldVector;
  /** Columns of the coset, on which the quotient is computed. */
  readonly columns: readonly Column[];
  /** null where they would take too much memory; then each proof computes them. */
  readonly columnValues: readonly ColumnValues[] | null;
}

/** Length of the coset: more than that of a quotient whose numerator has the degree 4n + 5. */
export const cosetLength = (n: number): number => (3 * n + 6 <= 4 * n ? 4 * n : 8 * n);
