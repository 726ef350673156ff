/** Montgomery products as straight-line programs. */
import { balancedDigits, LIMB_BITS, type Modulus } from './modulus.js';
import { type Limbs, range, StraightLine, type Term, tightLimb, within } from './straight-line.js';

/** What limbs may be, by the names of the structs in wgsl/field/field.wgsl. */
export const limbBounds = {
  canonical: { least: 0, most: 2 ** LIMB_BITS - 1 },
  tight: within(tightLimb(LIMB_BITS)),
  loose: within(2 * tightLimb(LIMB_BITS)),
} as const;

/** Rows that go to the columns together, so that a column is taken up less often: a tenth off a square on SwiftShader. */
const ROWS = 2;

/** A carry out of a column of 32 bits is less. */
const MOST_CARRIED = 2 ** (32 - LIMB_BITS);

/**
 * T·R⁻¹ − c − …, T being a sum of products of limbs, by operand scanning with interleaved reduction (Koç, Acar, Kaliski 1996: CIOS), on signed limbs.
 *
 * - Row i adds a_i·b to the columns, and makes column i divisible by 2^14 by adding a multiple of p. In all rows but the last
 *   that is q·n0·p with q = the column's low limb: as n0·p ≡ −1, column i becomes u − q, which is the carry already, and
 *   (n0·p + 1)/2^14 times q goes to the columns above. That saves two multiplications a row, and the wait for them. The last
 *   row takes the multiple of p itself, so that the result is not n0 times too large.
 * - A column that its next terms could make overflow is carried first; for 13 to 20 terms of 2^27 that is once.
 * - What is subtracted goes into the columns of the result before they are carried.
 *
 * Value. Of |T|/R ≤ 0.14·p: the multiples of p add less than (1/2 + 1/4)·p, as |q| ≤ 2^13 + 2^7 and |n0| ≤ 2^13: together below 0.9·p.
 *
 * @param program in which the limbs have names already
 * @param term what limb j of the others adds to column i + j in row i; nothing where there is none
 * @param minus names of what is subtracted from the result, canonical each
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

  /** What a column holds so far, and what it has yet to take in. */
  const columns: { name: string | null; waiting: Term[] }[] = range(2 * n + 1).map(() => ({ name: null, waiting: [] }));
  let fresh = 0;
  const add = (column: number, terms: readonly Term[]): void => {
    const state = columns[column] as (typeof columns)[number];
    const all = [...state.waiting, ...terms];
    if (all.length === 0) return;
    const joined = (): Term[] => (state.name === null ? all : [[state.name, 1], ...all]);
    if (state.name !== null && !program.fits(joined())) carryOut(column);
    state.name = program.sum(`t${fresh++}`, joined());
    state.waiting = [];
  };
  /** Leaves of a column what fits a limb; the next one takes in the rest. */
  const carryOut = (column: number): void => {
    const state = columns[column] as (typeof columns)[number];
    const carry = program.carry(`k${fresh}`, state.name as string);
    state.name = program.low(`m${fresh++}`, state.name as string, carry);
    (columns[column + 1] as typeof state).waiting.push([carry, 1]);
  };

  const p = balancedDigits(m.p, LIMB_BITS, n);
  const multiple = balancedDigits((m.p * BigInt(m.n0) + 1n) >> BigInt(LIMB_BITS), LIMB_BITS, n);
  /** What digit q_i adds to a column. */
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
      add(column, column < end ? [...added, ...carry] : added);
      if (column >= end) continue;
      const u = (columns[column] as (typeof columns)[number]).name as string;
      if (column < n - 1) {
        carry = [[program.carry(`h${column}`, u), 1]];
        program.low(`q${column}`, u, `h${column}`);
      } else {
        program.digit(`q${column}`, u, m.n0);
        const added: Term = [`q${column}`, p[0] as number];
        const full = !program.fits([[u, 1], added]);
        // what is carried first leaves the column's low bits, and so its digit, as they are
        const before: Term[] = full ? [[program.carry(`k${column}last`, u), 1]] : [];
        const rest = full ? program.low(`m${column}last`, u, `k${column}last`) : u;
        const exact = program.sum(`v${column}`, [[rest, 1], added]);
        carry = [...before, [program.carry(`h${column}`, exact), 1]];
      }
    }
  }
  const last = limb.map((i): Term[] => {
    add(n + i, [...(i === 0 ? carry : []), ...minus.map((name): Term => [`${name}.l${i}`, -1])]);
    const state = columns[n + i] as (typeof columns)[number];
    const fits = [1, -1].every((sign) =>
      program.fits([
        [state.name ?? 0, 1],
        [MOST_CARRIED, sign],
      ]),
    );
    if (!fits) carryOut(n + i);
    return state.name === null ? [] : [[state.name, 1]];
  });
  return { program, result: program.carryAll('r', last) };
};

/**
 * a·b·R⁻¹ − c − …. With |a·b| ≤ 18·p², R ≥ 2^8·p: |a·b|/R ≤ 0.08·p.
 *
 * @param square b is a: a_i·a_j and a_j·a_i are added once, as a_i·2a_j
 * @param minus names of what is subtracted from the result, canonical each
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
