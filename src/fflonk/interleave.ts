/** Several polynomials as one: Σ X^j·f_j(X^k), whose coefficients are those of all in turn. */
import type { FieldOperations, FieldVector } from '../api/fields.js';

/** Returns vectors one after the other, each padded with zeros to a length. */
export const concatenate = (ops: FieldOperations, parts: readonly FieldVector[], length: number): FieldVector => {
  const padded = parts.map((part, j) => ops.pad(part, (j + 1) * length, j * length));
  return ops.linearCombination(padded.map((part) => [1n, part]));
};

/** Interleaves polynomials; shorter ones count as padded with zeros. */
export const interleave = (ops: FieldOperations, parts: readonly FieldVector[]): FieldVector => {
  const count = parts.length;
  const length = Math.max(...parts.map((part) => part.length));
  const indices = new Uint32Array(count * length);
  for (let i = 0, at = 0; i < length; i++) for (let j = 0; j < count; j++, at++) indices[at] = j * length + i;
  return ops.gather(concatenate(ops, parts, length), indices);
};
