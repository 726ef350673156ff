/** Transposed products of sparse matrices with points: a sum for each variable over its constraints. */
import type { CurveContext } from '../curves/curve.js';
import type { Matrix } from '../formats/r1cs.js';
import type { Run } from './run.js';

/** Terms of a matrix that are multiplied by points of a table. */
export interface Product {
  readonly matrix: Matrix;
  /** x‖y of the point of each constraint. */
  readonly table: Uint32Array;
}

/** Sums of some variables. */
export interface MatrixSums {
  readonly curve: CurveContext;
  readonly products: readonly Product[];
  /** Numbers of the terms. */
  readonly numbers: readonly bigint[];
  /** Variables, from the first to before the last. */
  readonly from: number;
  readonly to: number;
  readonly scales: readonly bigint[];
  /** The place of the points, for errors. */
  readonly what: string;
}

/** Terms of one sum at most: longer ones are cut, so that threads share them. */
const TERMS_PER_SUM = 2 ** 10;

/** Terms by variable: those of variable v begin at `starts[v]`. */
interface ByVariable {
  readonly starts: Uint32Array;
  readonly constraints: Uint32Array;
  readonly numbers: Uint32Array;
}

/** Known transpositions, as several sections share a matrix. */
const transposed = new WeakMap<Matrix, ByVariable>();

/** Sorts the terms of a matrix by their variables, and each variable's by constraint (counting sort). */
const transpose = (matrix: Matrix, variables: number): ByVariable => {
  const known = transposed.get(matrix);
  if (known !== undefined) return known;
  const starts = new Uint32Array(variables + 1);
  for (const variable of matrix.variables) starts[variable + 1] = (starts[variable + 1] as number) + 1;
  for (let i = 0; i < variables; i++) starts[i + 1] = (starts[i + 1] as number) + (starts[i] as number);
  const next = starts.slice();
  const terms = matrix.variables.length;
  const [constraints, numbers] = [new Uint32Array(terms), new Uint32Array(terms)];
  for (let term = 0; term < terms; term++) {
    const variable = matrix.variables[term] as number;
    const at = next[variable] as number;
    next[variable] = at + 1;
    constraints[at] = matrix.constraints[term] as number;
    numbers[at] = matrix.numbers[term] as number;
  }
  const own = { starts, constraints, numbers };
  transposed.set(matrix, own);
  return own;
};

/** One term: a point of a table, and its number. */
interface Term {
  readonly table: Uint32Array;
  readonly constraint: number;
  readonly number: number;
}

/**
 * Yields the sums of variables in order, some at a time, for each scale.
 *
 * @param variables number of all variables
 * @throws MsmError `bad-argument`, `aborted`
 */
export async function* matrixSums(
  run: Run,
  variables: number,
  sums: MatrixSums,
): AsyncGenerator<Uint32Array<ArrayBuffer>[]> {
  const { products, from, to, numbers } = sums;
  const all = products.map(({ matrix, table }) => ({ terms: transpose(matrix, variables), table }));
  let rows: Term[][] = [];
  let terms = 0;
  for (let variable = from; variable < to; variable++) {
    const row: Term[] = [];
    for (const { terms: own, table } of all) {
      for (let at = own.starts[variable] as number; at < (own.starts[variable + 1] as number); at++) {
        const number = own.numbers[at] as number;
        if (numbers[number] !== 0n) row.push({ table, constraint: own.constraints[at] as number, number });
      }
    }
    const isFull = terms + row.length > run.pointsPerRound || rows.length >= run.pointsPerRound;
    if (isFull && rows.length > 0) {
      yield await sumsOfRows(run, sums, rows);
      [rows, terms] = [[], 0];
    }
    rows.push(row);
    terms += row.length;
  }
  if (rows.length > 0) yield await sumsOfRows(run, sums, rows);
}

/** Computes the sum of each row. */
const sumsOfRows = async (
  run: Run,
  sums: MatrixSums,
  rows: readonly (readonly Term[])[],
): Promise<Uint32Array<ArrayBuffer>[]> => {
  const { scales } = sums;
  const isLong = rows.some((row) => row.length > TERMS_PER_SUM);
  if (!isLong) return compute(run, sums, rows, scales);
  // equal numbers are side by side, so that each part multiplies by few
  const parts = rows.map((row) => {
    if (row.length <= TERMS_PER_SUM) return [row];
    const sorted = [...row].sort((left, right) => left.number - right.number);
    return Array.from({ length: Math.ceil(row.length / TERMS_PER_SUM) }, (_, i) =>
      sorted.slice(i * TERMS_PER_SUM, (i + 1) * TERMS_PER_SUM),
    );
  });
  const table = await sumsInRounds(run, sums, parts.flat());
  let next = 0;
  // number 0 is 1
  const totals = parts.map((own) => own.map((): Term => ({ table, constraint: next++, number: 0 })));
  return sumsOfRows(run, sums, totals);
};

/** Computes the sums of parts of rows, of no more terms at a time than a round has. */
const sumsInRounds = async (
  run: Run,
  sums: MatrixSums,
  parts: readonly (readonly Term[])[],
): Promise<Uint32Array<ArrayBuffer>> => {
  const { pointWords, field } = sums.curve;
  const fileScale = 1n << BigInt(8 * field.bytes);
  const all = new Uint32Array(parts.length * pointWords);
  for (let from = 0; from < parts.length; ) {
    let to = from;
    let terms = 0;
    do terms += (parts[to++] as readonly Term[]).length;
    while (to < parts.length && terms + (parts[to] as readonly Term[]).length <= run.pointsPerRound);
    const [some] = await compute(run, sums, parts.slice(from, to), [fileScale]);
    all.set(some as Uint32Array, from * pointWords);
    from = to;
  }
  return all;
};

const compute = async (
  run: Run,
  { curve, numbers, what }: MatrixSums,
  rows: readonly (readonly Term[])[],
  scales: readonly bigint[],
): Promise<Uint32Array<ArrayBuffer>[]> => {
  const { pointWords } = curve;
  const starts = new Uint32Array(rows.length + 1);
  for (const [i, row] of rows.entries()) starts[i + 1] = (starts[i] as number) + row.length;
  const count = starts[rows.length] as number;
  const points = new Uint32Array(count * pointWords);
  const which = new Uint32Array(count);
  const used = new Map<number, number>([[0, 0]]);
  let at = 0;
  for (const row of rows) {
    for (const { table, constraint, number } of row) {
      points.set(table.subarray(constraint * pointWords, (constraint + 1) * pointWords), at * pointWords);
      const index = used.get(number) ?? used.size;
      used.set(number, index);
      which[at++] = index;
    }
  }
  await run.pause();
  const multipliers = [...used.keys()].map((number) => numbers[number] as bigint);
  const scale = 1n << BigInt(8 * curve.field.bytes);
  return run.compute(curve, { points, scale, starts, which, multipliers, scales }, what);
};
