/**
 * The scalars of H: values of A·B − C on the coset of odd powers of a root of order 2n, where A, B
 * and C interpolate the two matrices' products with the witness and the products of those on the
 * n-th roots of unity. On that coset the vanishing polynomial is constant, and the key contains its
 * inverse. Source: Groth 2016 (https://eprint.iacr.org/2016/260), section 3.2.
 */
import type { FieldEngine, FieldOperations, FieldRunOptions, FieldVector, SparseMatrix } from '../api/fields.js';
import { power } from '../field/powers.js';
import type { OpenField } from '../fields/program/open-field.js';

/** The matrices of a circuit, times 2^256, so that products with w/2^256 are those with w. */
export interface LoadedMatrices {
  readonly a: SparseMatrix;
  readonly b: SparseMatrix;
}

/** Returns the root of unity of order 2n, which shifts the n-th roots to the coset. */
export const cosetOf = ({ p, twoAdicity, rootOfUnity }: OpenField, n: number): bigint =>
  power(rootOfUnity, 2n ** BigInt(twoAdicity) / BigInt(2 * n), p);

const valuesOnCoset = (ops: FieldOperations, values: FieldVector, coset: bigint): FieldVector =>
  ops.ntt(ops.intt(values, { to: 'reversed' }), { from: 'reversed', coset });

/**
 * Computes the scalars of H, one for each element of the domain; the caller destroys them.
 *
 * @param witness w/2^256
 * @param options turn and signal of the run
 * @throws MsmError `aborted`, `destroyed`, `out-of-memory`
 */
export const computeQuotient = (
  fr: FieldEngine,
  { a, b }: LoadedMatrices,
  coset: bigint,
  witness: FieldVector,
  options: FieldRunOptions,
): Promise<FieldVector> =>
  fr.run((ops) => {
    const left = ops.apply(a, witness);
    const right = ops.apply(b, witness);
    const product = valuesOnCoset(ops, ops.multiply(left, right), coset);
    const [leftThere, rightThere] = [valuesOnCoset(ops, left, coset), valuesOnCoset(ops, right, coset)];
    return ops.keep(ops.multiplySubtract(leftThere, rightThere, product));
  }, options);
