/**
 * Quotients by X^n − 1, computed on one coset of n elements after the other, so that no vector is longer than
 * a polynomial. With g the coset of the domain and w its root of order mn, column j is the coset
 * s_j·⟨w^m⟩, s_j = g·w^j. X^n has the same value c_j = s_j^n on a whole column, so a polynomial
 * q = Σ t_k·X^(kn) has the values of r_j = Σ c_j^k·t_k there. With ζ = w^n, a root of unity of order
 * m, t_k = c_0^(−k)/m · Σ_j ζ^(−jk)·r_j.
 */
import type { FieldOperations, FieldVector } from '../../api/fields.js';
import { invert, mod } from '../../field/modulus.js';
import { power } from '../../field/powers.js';
import type { CircuitPolynomial } from './circuit.js';
import type { Domain } from './relations.js';

/** A coset of the n-th roots of unity. */
export interface Column {
  readonly n: number;
  /** Root of unity of order n. */
  readonly root: bigint;
  /** The first element. */
  readonly shift: bigint;
  /** The value of X^n. */
  readonly constant: bigint;
}

/** Returns the columns of a domain's coset. */
export const columnsOf = ({ n, root, size, sizeRoot, coset }: Domain, p: bigint): readonly Column[] =>
  Array.from({ length: size / n }, (_, j) => {
    const shift = mod(coset * power(sizeRoot, BigInt(j), p), p);
    return { n, root, shift, constant: power(shift, BigInt(n), p) };
  });

/** Returns the values of a polynomial of at least n coefficients on a column, in reversed order. */
export const onColumn = (
  ops: FieldOperations,
  { n, shift, constant }: Column,
  p: bigint,
  coefficients: FieldVector,
): FieldVector => {
  const { length } = coefficients;
  const factors = Array.from({ length: Math.ceil(length / n) }, (_, k) => power(constant, BigInt(k), p));
  const terms = factors.map((factor, k) => {
    const to = Math.min(length, (k + 1) * n);
    return [factor, ops.slice(coefficients, k * n, to)] as const;
  });
  const rest = length === n ? coefficients : ops.linearCombination(terms);
  return ops.ntt(rest, { to: 'reversed', coset: shift });
};

/** Names of values on a column: of the circuit's polynomials, and the elements themselves. */
export type ColumnName = CircuitPolynomial | 'x';

/** Values on a column, in reversed order. */
export type ColumnValues = { readonly [Name in ColumnName]?: FieldVector };

/** Parts of a key that values on columns are recorded of. */
interface Interpolated {
  readonly p: bigint;
  readonly coefficients: Readonly<Record<CircuitPolynomial, FieldVector>>;
  /** n ones. */
  readonly ones: FieldVector;
  readonly columns: readonly Column[];
}

/** Returns what records values on column j, unless they are kept. */
export const columnReader = (
  ops: FieldOperations,
  { p, coefficients, ones, columns }: Interpolated,
  j: number,
  kept?: ColumnValues,
): ((name: ColumnName) => FieldVector) => {
  const column = columns[j] as Column;
  const record = (name: ColumnName): FieldVector =>
    name === 'x'
      ? ops.scalePowers(ones, column.root, { order: 'reversed', factor: column.shift })
      : onColumn(ops, column, p, coefficients[name]);
  return (name) => kept?.[name] ?? record(name);
};

/** Records and keeps values on all columns. @param namesOf returns the names of values on column j */
export const keepColumns = (
  ops: FieldOperations,
  key: Interpolated,
  namesOf: (j: number) => readonly ColumnName[],
): readonly ColumnValues[] =>
  key.columns.map((_, j) => {
    const read = columnReader(ops, key, j);
    return Object.fromEntries(namesOf(j).map((name) => [name, ops.keep(read(name))]));
  });

/**
 * Divides a polynomial by X^n − 1.
 *
 * @param valuesOn records the values of the polynomial on a column, in reversed order
 * @returns m parts of n coefficients each, the lowest first
 */
export const divideByVanishing = (
  ops: FieldOperations,
  columns: readonly Column[],
  p: bigint,
  valuesOn: (column: Column, j: number) => FieldVector,
): readonly FieldVector[] => {
  const m = columns.length;
  const remainders = columns.map((column, j) =>
    ops.intt(valuesOn(column, j), { from: 'reversed', coset: column.shift }),
  );
  const constants = columns.map(({ constant }) => constant);
  const [first, second = 1n] = constants as [bigint, bigint?];
  const toFirst = invert(first, p);
  const toRoot = mod(first * invert(second, p), p);
  return constants.map((_, k) => {
    const common = power(toFirst, BigInt(k), p);
    const terms = remainders.map((remainder, j) => {
      const divisor = invert(mod(BigInt(m) * ((constants[j] as bigint) - 1n), p), p);
      return [mod(mod(common * power(toRoot, BigInt(j * k), p), p) * divisor, p), remainder] as const;
    });
    return ops.linearCombination(terms);
  });
};

/** Returns the coefficients [from, to) of a polynomial that is in parts of n coefficients. */
export const coefficientsIn = (
  ops: FieldOperations,
  parts: readonly FieldVector[],
  from: number,
  to: number,
): FieldVector => {
  const n = (parts[0] as FieldVector).length;
  const terms: (readonly [bigint, FieldVector])[] = [];
  for (let k = Math.floor(from / n); k * n < to; k++) {
    const [first, end] = [Math.max(from, k * n), Math.min(to, (k + 1) * n)];
    const piece = ops.slice(parts[k] as FieldVector, first - k * n, end - k * n);
    if (first === from && end === to) return piece;
    terms.push([1n, ops.pad(piece, end - from, first - from)]);
  }
  return ops.linearCombination(terms);
};
