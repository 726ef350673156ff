/**
 * The relations between the wires of a circuit, its gates and its permutation, and the domain on which
 * their polynomials are computed. Gabizon, Williamson and Ciobotaru, "PLONK"
 * (https://eprint.iacr.org/2019/953), section 8.3, rounds 2 and 3.
 */
import type { FieldEngine, FieldOperations, FieldVector } from '../../api/fields.js';
import { mod } from '../../field/modulus.js';
import { power, rootOfOrder } from '../../field/powers.js';
import type { OpenField } from '../../fields/program/open-field.js';
import type { PlonkishCircuit } from './circuit.js';

/** Three vectors, for the wires a, b and c. */
export type Wires = readonly [FieldVector, FieldVector, FieldVector];

/** Vectors of the selectors. */
export type Selectors = Readonly<Record<'qm' | 'ql' | 'qr' | 'qo' | 'qc', FieldVector>>;

/** Returns qm·a·b + ql·a + qr·b + qo·c + qc, of values at the same points. */
export const gatesOf = (ops: FieldOperations, { qm, ql, qr, qo, qc }: Selectors, [a, b, c]: Wires): FieldVector => {
  const gates = ops.multiplyAdd(ops.multiply(qm, a), b, qc);
  return ops.multiplyAdd(qo, c, ops.multiplyAdd(qr, b, ops.multiplyAdd(ql, a, gates)));
};

/**
 * Returns the values of the wires at the n-th roots of unity.
 *
 * @param inputs begin with the variables
 */
export const valuesOfWires = (
  ops: FieldOperations,
  { wires, domain }: Pick<PlonkishCircuit, 'wires'> & { readonly domain: Domain },
  inputs: FieldVector,
): Wires => {
  const [a, b, c] = wires;
  // without constraints: the value of variable 0, which is 0 here
  const none = Uint32Array.of(0);
  const valuesOf = (indices: Uint32Array): FieldVector =>
    ops.pad(ops.gather(inputs, indices.length === 0 ? none : indices), domain.n);
  return [valuesOf(a), valuesOf(b), valuesOf(c)];
};

/** Returns a polynomial plus (X^n − 1) times another. */
export const blind = (
  ops: FieldOperations,
  coefficients: FieldVector,
  blinding: FieldVector,
  { n, p }: { readonly n: number; readonly p: bigint },
): FieldVector => {
  const length = n + blinding.length;
  return ops.linearCombination([
    [1n, ops.pad(coefficients, length)],
    [p - 1n, blinding],
    [1n, ops.pad(blinding, length, n)],
  ]);
};

/** Challenges of the permutation. */
export interface PermutationChallenges {
  readonly beta: bigint;
  readonly gamma: bigint;
}

/** Vectors at the same points, for the permutation. */
interface PermutationValues {
  readonly wires: Wires;
  /** The points. */
  readonly x: FieldVector;
  /** Records the values of permutation `i`, right before they are used. */
  readonly permutation: (i: number) => FieldVector;
  readonly ones: FieldVector;
}

/** The multiples k1 and k2 of the identity, and the prime. */
interface PermutationOf extends Pick<PlonkishCircuit, 'k1' | 'k2'> {
  readonly p: bigint;
}

/**
 * Returns the products of a permutation's both sides.
 *
 * @param last factors of each side, if any
 */
export const permutationProducts = (
  ops: FieldOperations,
  { wires, x, permutation, ones }: PermutationValues,
  { k1, k2, p }: PermutationOf,
  { beta, gamma }: PermutationChallenges,
  last?: readonly [FieldVector, FieldVector],
): readonly [above: FieldVector, below: FieldVector] => {
  // sum by sum, so that few of them are in memory at a time
  const product = (
    factorOf: (i: number) => readonly [bigint, FieldVector],
    start: FieldVector | undefined,
  ): FieldVector => {
    let all = start;
    for (const [i, wire] of wires.entries()) {
      const sum = ops.linearCombination([[1n, wire], factorOf(i), [gamma, ones]]);
      all = all === undefined ? sum : ops.multiply(all, sum);
    }
    return all as FieldVector;
  };
  const identities = [1n, k1, k2].map((k) => mod(beta * k, p));
  return [product((i) => [identities[i] as bigint, x], last?.[0]), product((i) => [beta, permutation(i)], last?.[1])];
};

/** Returns the polynomial of the permutation, without blinding. */
export const permutationPolynomial = (
  ops: FieldOperations,
  values: PermutationValues,
  circuit: PermutationOf,
  challenges: PermutationChallenges,
): FieldVector => {
  const [above, below] = permutationProducts(ops, values, circuit, challenges);
  return ops.intt(ops.prefixProduct(ops.multiply(above, ops.invert(below))));
};

/** Returns the values of the public polynomial's negative at the n-th roots of unity. */
export const publicValues = (ops: FieldOperations, ofA: FieldVector, count: number, n: number): FieldVector =>
  ops.pad(ops.slice(ofA, 0, count), n);

/** Returns values that are 0 for each constraint that the wires satisfy. */
export const remaindersOf = (
  ops: FieldOperations,
  selectors: Selectors,
  wires: Wires,
  publicSignals: number,
): FieldVector => {
  const gates = gatesOf(ops, selectors, wires);
  if (publicSignals === 0) return gates;
  return ops.subtract(gates, publicValues(ops, wires[0], publicSignals, gates.length));
};

export interface Domain {
  readonly n: number;
  readonly root: bigint;
  /** Length of the coset. */
  readonly size: number;
  readonly sizeRoot: bigint;
  readonly coset: bigint;
}

/** @param size length of the coset, a power of two that the field has roots for */
export const domainOf = (field: OpenField, n: number, size: number): Domain => {
  let coset = 2n;
  while (power(coset, BigInt(size), field.p) === 1n) coset++;
  return { n, root: rootOfOrder(field, n), size, sizeRoot: rootOfOrder(field, size), coset };
};

/** Loads as many ones as the domain has elements. */
export const loadOnes = (
  fr: FieldEngine,
  { n }: Domain,
  options: { readonly signal?: AbortSignal },
): Promise<FieldVector> => {
  const one = new Uint8Array(n * fr.numberBytes);
  for (let i = 0; i < one.length; i += fr.numberBytes) one[i] = 1;
  return fr.load(one, options);
};
