/** Montgomery products as straight-line programs. */
import { balancedDigits, LIMB_BITS, type Modulus } from './modulus.js';
import { type Limbs, range, StraightLine, type Term, tightLimb, within } from './straight-line.js';

/** Bounds of limbs, by the structs of wgsl/field/field.wgsl. */
export const limbBounds = {
  canonical: { least: 0, most: 2 ** LIMB_BITS - 1 },
  tight: within(tightLimb(LIMB_BITS)),
  loose: within(2 * tightLimb(LIMB_BITS)),
} as const;

/**
 * Rows that are added to the columns together. Each column is then read less often, which saves a
 * tenth of a square on SwiftShader.
 */
const ROWS = 2;

/** Bound of a carry out of a column of 32 bits. */
const MOST_CARRIED = 2 ** (32 - LIMB_BITS);

/** The columns of a product in a program. Carries a column before terms that could overflow it. */
class Columns {
  /** Names of the sums so far; null for an empty column. */
  readonly names: (string | null)[];
  readonly #program: StraightLine;
  /** Carries that a column has yet to take in. */
  readonly #waiting: Term[][];
  #fresh = 0;

  constructor(program: StraightLine, count: number) {
    this.#program = program;
    this.names = range(count).map(() => null);
    this.#waiting = range(count).map(() => []);
  }

  /** Adds terms to a column. */
  add(column: number, terms: readonly Term[]): void {
    const all = [...(this.#waiting[column] as Term[]), ...terms];
    if (all.length === 0) return;
    const joined = (): Term[] => (this.names[column] ? [[this.names[column], 1], ...all] : all);
    if (this.names[column] && !this.#program.fits(joined())) this.carryOut(column);
    this.names[column] = this.#program.sum(`t${this.#fresh++}`, joined());
    this.#waiting[column] = [];
  }

  /** Carries a column into the next one, and leaves a limb. */
  carryOut(column: number): void {
    const name = this.names[column] as string;
    const carry = this.#program.carry(`k${this.#fresh}`, name);
    this.names[column] = this.#program.low(`m${this.#fresh++}`, name, carry);
    this.#waiting[column + 1]?.push([carry, 1]);
  }
}

/**
 * Adds the multiple of p that clears a column by p itself, and returns the carries into the next
 * column.
 */
const clearByModulus = (program: StraightLine, m: Modulus, column: number, u: string, p0: number): Term[] => {
  program.digit(`q${column}`, u, m.n0);
  const added: Term = [`q${column}`, p0];
  const full = !program.fits([[u, 1], added]);
  // a carry first leaves the low bits of the column, and so its digit, unchanged
  const before: Term[] = full ? [[program.carry(`k${column}last`, u), 1]] : [];
  const rest = full ? program.low(`m${column}last`, u, `k${column}last`) : u;
  const exact = program.sum(`v${column}`, [[rest, 1], added]);
  return [...before, [program.carry(`h${column}`, exact), 1]];
};

/**
 * Adds T·R⁻¹ − c − … to a program, where T is a sum of products of signed limbs, by operand
 * scanning with interleaved reduction (CIOS: Koç, Acar, Kaliski 1996).
 *
 * - Row i adds a_i·b to the columns, and makes column i divisible by 2^14 by adding a multiple of
 *   p. In all rows except the last one that is q·n0·p, where q is the low limb of the column. As
 *   n0·p ≡ −1, column i becomes u − q, which is the carry already, and q times (n0·p + 1)/2^14 is
 *   added to the columns above. That saves two multiplications a row, and the wait for them. The
 *   last row adds a multiple of p itself, so that the result is not n0 times too large.
 * - A column is carried before terms that could overflow it: once for 13 to 20 terms of 2^27.
 * - Subtrahends are added to the columns of the result before these are carried.
 *
 * Bounds. For |T|/R ≤ 0.14·p the result is below 0.9·p: the multiples of p add less than (1/2 +
 * 1/4)·p, because |q| ≤ 2^13 + 2^7 and |n0| ≤ 2^13.
 *
 * @param program declares the names of the factors' limbs
 * @param term returns the terms that limb j of the other factor adds to column i + j in row i
 * @param minus names of the elements to subtract, each canonical
 */
export const reducedProduct = (
  program: StraightLine,
  m: Modulus,
  term: (i: number, j: number) => readonly Term[],
  minus: readonly string[],
): Limbs => {
  const n = m.limbs;
  const limb = range(n);
  for (const i of limb) for (const name of minus) program.input(`${name}.l${i}`, limbBounds.canonical);
  const columns = new Columns(program, 2 * n + 1);
  const p = balancedDigits(m.p, LIMB_BITS, n);
  const multiple = balancedDigits((m.p * BigInt(m.n0) + 1n) >> BigInt(LIMB_BITS), LIMB_BITS, n);
  /** Returns the terms that digit q_i adds to a column. */
  const reduction = (i: number, column: number): Term[] => {
    const digit = i < n - 1 ? multiple[column - i - 1] : p[column - i];
    return digit === undefined || digit === 0 ? [] : [[`q${i}`, digit]];
  };
  let carry: Term[] = [];
  for (let first = 0; first < n; first += ROWS) {
    const rows = limb.slice(first, first + ROWS);
    const end = first + rows.length;
    for (let column = first; column < n + end; column++) {
      const added = rows.flatMap((i) => [...term(i, column - i), ...(i < column ? reduction(i, column) : [])]);
      columns.add(column, column < end ? [...added, ...carry] : added);
      if (column >= end) continue;
      const u = columns.names[column] as string;
      if (column < n - 1) {
        carry = [[program.carry(`h${column}`, u), 1]];
        program.low(`q${column}`, u, `h${column}`);
      } else {
        carry = clearByModulus(program, m, column, u, p[0] as number);
      }
    }
  }
  const last = limb.map((i): Term[] => {
    columns.add(n + i, [...(i === 0 ? carry : []), ...minus.map((name): Term => [`${name}.l${i}`, -1])]);
    const fits = [1, -1].every((sign) =>
      program.fits([
        [columns.names[n + i] ?? 0, 1],
        [MOST_CARRIED, sign],
      ]),
    );
    if (!fits) columns.carryOut(n + i);
    const name = columns.names[n + i] ?? null;
    return name === null ? [] : [[name, 1]];
  });
  return { program, result: program.carryAll('r', last) };
};

/**
 * Makes the program of a·b·R⁻¹ − c − …. With |a·b| ≤ 18·p² and R ≥ 2^8·p, |a·b|/R ≤ 0.08·p.
 *
 * @param square true if b is a: a_i·a_j and a_j·a_i are added once, as a_i·2a_j
 * @param minus names of the elements to subtract, each canonical
 */
export const montgomeryProduct = (m: Modulus, square: boolean, minus: readonly string[]): Limbs => {
  const program = new StraightLine(LIMB_BITS);
  const limb = range(m.limbs);
  for (const i of limb) {
    program.input(`a.l${i}`, square ? limbBounds.tight : limbBounds.loose);
    if (!square) program.input(`b.l${i}`, limbBounds.tight);
  }
  if (square) for (const j of limb.slice(1)) program.sum(`d${j}`, [[`a.l${j}`, 2]]);
  const term = (i: number, j: number): Term[] => {
    if (j < (square ? i : 0) || j >= m.limbs) return [];
    return [[`a.l${i}`, !square ? `b.l${j}` : j === i ? `a.l${i}` : `d${j}`]];
  };
  return reducedProduct(program, m, term, minus);
};
