/**
 * The scalars of H: values of A·B − C on the coset of odd powers of a root of order 2n, where A, B
 * and C interpolate the two matrices' products with the witness and the products of those on the
 * n-th roots of unity. On that coset the vanishing polynomial is constant, and the key contains its
 * inverse. Source: Groth 2016 (https://eprint.iacr.org/2016/260), section 3.2.
 */
import type { FieldOperations } from '../api/field-operations.js';
import type { FieldVector, SparseMatrix } from '../api/field-vectors.js';
import type { FieldEngine } from '../api/fields.js';
import type { OwnBytes } from '../api/values.js';
import { power } from '../field/square-root.js';
import type { OpenField } from '../fields/program/open-field.js';

/** The matrices of a circuit, times 2^256, so that products with w/2^256 are those with w. */
export interface LoadedMatrices {
  readonly a: SparseMatrix;
  readonly b: SparseMatrix;
}

/** Returns the root of unity of order 2n, which shifts the n-th roots to the coset. */
export const cosetOf = ({ p, twoAdicity, rootOfUnity }: OpenField, n: number): bigint =>
  power(rootOfUnity, 2n ** BigInt(twoAdicity) / BigInt(2 * n), p);

/** Secrets of a proof: r and s, which blind it. */
export interface Blinding {
  readonly r: Uint8Array<ArrayBuffer>;
  readonly s: Uint8Array<ArrayBuffer>;
}

/** The scalars that a proof computes. */
export interface ComputedScalars {
  /** Scalars of H, one for each element of the domain; the caller destroys them. */
  readonly h: FieldVector;
  /** −r·s. */
  readonly minusRS: OwnBytes;
}

const valuesOnCoset = (ops: FieldOperations, values: FieldVector, coset: bigint): FieldVector =>
  ops.ntt(ops.intt(values, { to: 'reversed' }), { from: 'reversed', coset });

/**
 * Computes the scalars of H, and −r·s. Overwrites what it computes on the way.
 *
 * @param witness w/2^256
 * @throws MsmError `aborted`, `destroyed`, `out-of-memory`
 */
export const computeScalars = async (
  fr: FieldEngine,
  { a, b }: LoadedMatrices,
  coset: bigint,
  witness: FieldVector,
  { r, s }: Blinding,
  signal: AbortSignal,
): Promise<ComputedScalars> => {
  const vectors: FieldVector[] = [];
  let made: FieldVector | null = null;
  const owned = (vector: FieldVector): FieldVector => {
    vectors.push(vector);
    return vector;
  };
  try {
    const blinding = [owned(await fr.load(r, { signal })), owned(await fr.load(s, { signal }))] as const;
    const { h, rs } = await fr.run(
      (ops) => {
        const left = ops.apply(a, witness);
        const right = ops.apply(b, witness);
        const product = valuesOnCoset(ops, ops.multiply(left, right), coset);
        const [leftThere, rightThere] = [valuesOnCoset(ops, left, coset), valuesOnCoset(ops, right, coset)];
        return {
          h: ops.keep(ops.multiplySubtract(leftThere, rightThere, product)),
          rs: ops.keep(ops.negate(ops.multiply(...blinding))),
        };
      },
      { signal },
    );
    vectors.push(rs);
    made = h;
    return { h, minusRS: await fr.read(rs, { signal }) };
  } catch (error) {
    made?.destroy();
    throw error;
  } finally {
    for (const vector of vectors) vector.destroy();
  }
};
