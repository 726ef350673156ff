/**
 * Montgomery products of numbers in words, which are cut into limbs of 13 bits: a compiler sees the masks, and so that every product is one of
 * 24 bits, for which GPUs of AMD have an instruction at the full rate; one of 32 bits takes four times as long there.
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
 * Rows, of so many, in which digits of the multiple of p may be n0 times too large: all but two. What they leave is then below 4p²/R + (1 + 2^−13)·p, which
 * for an R hardly more than 4p is more than 2p: none there.
 */
export const roughRows = ({ p, montgomeryBits }: Modulus, rows: number): number =>
  4n * p + (p >> 10n) > 1n << BigInt(montgomeryBits) ? 0 : rows - 2;

/**
 * a·b/R below 2p, for a and b below 2p, as R is at least 4p (Koç, Acar, Kaliski 1996: CIOS). Row i adds a_i·b to the columns, and makes the
 * lowest of them divisible by 2^width with a multiple q·p, q being its digit times n0 = −p⁻¹. In all rows but the last two that is u·n0·p with the digit u
 * itself: as n0·p ≡ −1, the lowest column becomes what its carry is already, and the digits of (n0·p + 1)/2^width times u go to the columns
 * above. That saves the product that q is, and one more. Multiples that are n0 times too large in the last two rows could make the result more than 2p.
 *
 * Nothing is carried in between: two products of 13 bits fit 32 times in a u32, which is as often as numbers of this library's lengths need.
 *
 * @param square b is a: a_i·a_j and a_j·a_i are added once, as a_i·2a_j
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

  // after i rows: those of 2^(width·i) and above
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
