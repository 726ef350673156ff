/** Products of pairs c0 + c1·u with u² = nonResidue, as straight-line programs on signed limbs. */
import { LIMB_BITS, type Modulus } from './modulus.js';
import { limbBounds, reducedProduct } from './product.js';
import { type Limbs, range, StraightLine, type Term } from './straight-line.js';

/** Coefficient c0 or c1. */
export type Part = 0 | 1;

/** Largest factor whose multiples of limbs are not carried. */
const MOST_UNCARRIED = 2n;

const isSmall = (factor: bigint): boolean => factor >= -MOST_UNCARRIED && factor <= MOST_UNCARRIED;

/** Computes the limbs of an element times a small factor, and returns their names. */
const scaled = (program: StraightLine, m: Modulus, name: string, from: string, factor: bigint): string[] => {
  const columns = range(m.limbs).map((i): Term[] => [[`${from}.l${i}`, Number(factor)]]);
  return isSmall(factor)
    ? columns.map((terms, i) => program.sum(`${name}${i}`, terms))
    : program.carryAll(name, columns);
};

/**
 * Makes the program of one coefficient of a·b·R⁻¹ − c − …: c0 = a0·b0 + nonResidue·a1·b1 or c1 =
 * a0·b1 + a1·b0. The sum of both products of limbs is reduced once (lazy reduction: Scott,
 * "Implementing cryptographic pairings", 2007). With |a_i·b_j| ≤ 18·p² and R ≥ 2^10·p, |T|/R ≤ (1 +
 * 6)·18/2^10·p ≤ 0.13·p for the largest nonResidue.
 *
 * Both coefficients take four products and two reductions of limbs, as much as three products of
 * elements. Karatsuba with lazy reduction would take a sixth fewer multiplications, but its sums
 * have limbs twice as large: a column would overflow after four terms instead of sixteen.
 *
 * @param minus names of the pairs to subtract, each canonical
 */
export const quadraticProduct = (m: Modulus, nonResidue: bigint, part: Part, minus: readonly string[]): Limbs => {
  const program = new StraightLine(LIMB_BITS);
  for (const i of range(m.limbs)) {
    for (const c of ['c0', 'c1']) {
      program.input(`a.${c}.l${i}`, limbBounds.loose);
      program.input(`b.${c}.l${i}`, limbBounds.tight);
    }
  }
  const others = part === 0 ? scaled(program, m, 'n', 'b.c1', nonResidue) : range(m.limbs).map((i) => `b.c0.l${i}`);
  const term = (i: number, j: number): Term[] => {
    if (j < 0 || j >= m.limbs) return [];
    return [
      [`a.c0.l${i}`, `b.c${part}.l${j}`],
      [`a.c1.l${i}`, others[j] as string],
    ];
  };
  return reducedProduct(
    program,
    m,
    term,
    minus.map((name) => `${name}.c${part}`),
  );
};

/**
 * Makes the program of one coefficient of a·a·R⁻¹ − c − …: c0 = a0² + factor·a1² or c1 = 2·a0·a1.
 * With −nonResidue as the factor, c0 is the norm. In squares a_i·a_j and a_j·a_i are added once, as
 * a_i·2a_j, unless the limbs of factor·a are carried and so are no longer multiples of those of a.
 */
export const quadraticSquare = (m: Modulus, factor: bigint, part: Part, minus: readonly string[]): Limbs => {
  const program = new StraightLine(LIMB_BITS);
  const limb = range(m.limbs);
  for (const i of limb) for (const c of ['c0', 'c1']) program.input(`a.${c}.l${i}`, limbBounds.tight);
  const names = minus.map((name) => `${name}.c${part}`);
  /** Limb i of a coefficient times limb j of `others`. */
  const row = (i: number, j: number, of: string, others: readonly string[]): Term[] =>
    j < 0 || j >= m.limbs ? [] : [[`a.${of}.l${i}`, others[j] as string]];
  if (part === 1) {
    const twice = scaled(program, m, 'd', 'a.c1', 2n);
    return reducedProduct(program, m, (i, j) => row(i, j, 'c0', twice), names);
  }
  const own = limb.map((i) => `a.c0.l${i}`);
  const multiple = scaled(program, m, 'n', 'a.c1', factor);
  const twiceOwn = scaled(program, m, 'd', 'a.c0', 2n);
  const twice = isSmall(factor) ? multiple.map((name, i) => program.sum(`e${i}`, [[name, 2]])) : [];
  /** Half of a square: terms once on the diagonal, and doubled beside it. */
  const half = (i: number, j: number, of: string, once: readonly string[], both: readonly string[]): Term[] =>
    j < i ? [] : row(i, j, of, j === i ? once : both);
  const term = (i: number, j: number): Term[] => [
    ...half(i, j, 'c0', own, twiceOwn),
    ...(isSmall(factor) ? half(i, j, 'c1', multiple, twice) : row(i, j, 'c1', multiple)),
  ];
  return reducedProduct(program, m, term, names);
};
