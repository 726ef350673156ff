/**
 * Montgomery products of numbers in words, split into limbs of 13 bits. From the masks a compiler
 * sees that operands fit 24 bits, for which AMD's GPUs have a full-rate multiplication; a
 * multiplication of 32 bits takes four times as long there.
 */
import { digitsOf, lazyLimbs, type Modulus, montgomeryFactor, UNSIGNED_LIMB_BITS } from './modulus.js';
import { range } from './straight-line.js';
import {
  above,
  input,
  limbsOfWords,
  low,
  number,
  sum,
  times,
  type Word,
  WordLine,
  type WordProgram,
  wordsOfLimbs,
} from './word-line.js';

/**
 * Returns the number of rough rows, in which the multiple of p may be n0 times too large: all but
 * the last two rows. They leave a result below 4p²/R + (1 + 2^−13)·p. For an R hardly above 4p this
 * exceeds 2p, so no row is rough then.
 */
export const roughRows = ({ p, montgomeryBits }: Modulus, rows: number): number =>
  4n * p + (p >> 10n) > 1n << BigInt(montgomeryBits) ? 0 : rows - 2;

/**
 * Makes the product a·b/R, below 2p for a and b below 2p, because R ≥ 4p (CIOS: Koç, Acar, Kaliski
 * 1996). Row i adds a_i·b to the columns, and makes the lowest column divisible by 2^width by
 * adding q·p, with q = its digit times n0 = −p⁻¹. Rough rows add u·n0·p with the digit u itself:
 * n0·p ≡ −1, so the carry of the lowest column is known already, and u times the digits of (n0·p +
 * 1)/2^width is added to the columns above. That saves two products a row. In the last two rows,
 * multiples that are n0 times too large could make the result exceed 2p.
 *
 * Columns are not carried between rows: a u32 holds 32 pairs of products of 13 bits, enough for all
 * lengths of this library.
 *
 * @param square true if b is a: a_i·a_j and a_j·a_i are added once, as a_i·2a_j
 */
export const unsignedProduct = (m: Modulus, square: boolean): WordProgram => {
  const width = UNSIGNED_LIMB_BITS;
  const program = new WordLine();
  const [n, words] = [lazyLimbs(m, width), lazyLimbs(m, 32)];
  const operand = (name: string): Word[] => {
    const given = range(words).map((i) => input(`${name}.w${i}`));
    return limbsOfWords(given, width, n).map((limb, i) => {
      const named = program.let(`${name}${i}`, limb);
      return i < n - 1 ? named : { ...named, most: Number((2n * m.p - 1n) >> BigInt(width * i)) };
    });
  };
  const a = operand('a');
  const b = square ? a : operand('b');
  const doubled = square ? a.map((limb, i) => program.let(`d${i}`, sum(limb, limb))) : b;
  const term = (i: number, k: number): Word => {
    if (k >= n || (square && k < i)) return number(0);
    return times(a[i] as Word, (square && k === i ? a : doubled)[k] as Word);
  };

  const n0 = montgomeryFactor(m.p, width);
  const p = digitsOf(m.p, width, n);
  const multiple = [0, ...digitsOf((m.p * n0 + 1n) >> BigInt(width), width, n)];
  let fresh = 0;
  const named = (word: Word): Word => program.let(`t${fresh++}`, word);

  // columns of weight 2^(width·i) and above, after i rows
  let columns: Word[] = range(2 * n).map(() => number(0));
  for (const i of range(n)) {
    const [lowest, ...rest] = columns as [Word, ...Word[]];
    const u = named(sum(lowest, term(i, 0)));
    const digit = program.let(`u${i}`, low(u, width));
    const rough = i < roughRows(m, n);
    const q = rough ? digit : program.let(`q${i}`, low(times(digit, number(Number(n0))), width));
    const digits = rough ? multiple : p;
    const carry = above(rough ? u : named(sum(u, times(q, number(p[0] as number)))), width);
    columns = rest.map((column, k) =>
      named(sum(column, term(i, k + 1), times(q, number(digits[k + 1] ?? 0)), k === 0 ? carry : number(0))),
    );
    columns.push(number(0));
  }
  const limbs: Word[] = [];
  let carry = number(0);
  for (const column of columns.slice(0, n)) {
    const whole = program.let(`s${limbs.length}`, sum(column, carry));
    carry = above(whole, width);
    limbs.push(program.let(`r${limbs.length}`, limbs.length < n - 1 ? low(whole, width) : whole));
  }
  return { program, result: wordsOfLimbs(limbs, width, words) };
};
