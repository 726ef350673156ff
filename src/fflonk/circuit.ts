/**
 * The circuit in an FFLONK `.zkey`. The header has four roots of unity, which follow from the
 * domain, and one commitment to all polynomials. Each of the sections 7 to 14 has one of them.
 * Section 17 has them interleaved, and is not read.
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
import type { Column, ColumnName, ColumnValues } from '../proofs/plonkish/columns.js';
import type { Domain, Selectors, Wires } from '../proofs/plonkish/relations.js';

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

const selectorNames = ['ql', 'qr', 'qo', 'qm', 'qc'] as const satisfies readonly CircuitPolynomial[];

/** Names of the permutations. */
export const permutationNames = ['s1', 's2', 's3'] as const satisfies readonly CircuitPolynomial[];

/** Names of the polynomials in the order in which C0 has them. */
export const circuitPolynomials: readonly CircuitPolynomial[] = [...selectorNames, ...permutationNames];

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
  return { k1, k2, tau2, commitment, ...wiring };
};

/* A key in the engines that compute with it: its vectors on one backend. */

/** Vectors that follow from the coefficients, and that all proofs use. */
export interface KeptVectors {
  /** All coefficients interleaved. */
  readonly c0: FieldVector;
  /** Values of the selectors at the n-th roots of unity. */
  readonly selectors: Selectors;
  /** Values of the permutations there. */
  readonly permutations: Wires;
}

export interface LoadedKey
  extends CircuitFacts,
    Pick<FflonkCircuit, 'k1' | 'k2' | 'commitment' | 'tau2' | 'additions' | 'wires'> {
  readonly fr: FieldEngine;
  /** Prime of the scalar field. */
  readonly p: bigint;
  readonly g1: MsmEngine;
  /** The coset has 4n elements. */
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
  /** Vectors that save time; null if each proof computes them. */
  readonly kept: KeptVectors | null;
  /** n ones. */
  readonly ones: FieldVector;
  /** Columns of the coset, on which quotients are computed. */
  readonly columns: readonly Column[];
  /** null where they would take too much memory; then each proof computes them. */
  readonly columnValues: readonly ColumnValues[] | null;
}

/** Names of the values that quotients have on column j: the quotient of the gates takes every second column. */
export const columnNames = (j: number): readonly ColumnName[] => [
  ...(j % 2 === 0 ? selectorNames : []),
  ...permutationNames,
  'x',
];
