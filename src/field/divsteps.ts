import { balancedDigits, digitsOf, lazyLimbs, type Modulus, montgomeryFactor } from './modulus.js';
import { range, StraightLine, type Term, within } from './straight-line.js';
import { input, limbsOfWords, member, type Word, wordsOfLimbs } from './word-line.js';

/**
 * Field inversion by division steps (divsteps) in batches: Bernstein and Yang, "Fast constant-time
 * gcd computation and modular inversion", TCHES 2019/3, in the half-delta variant.
 *
 * A batch runs BATCH divsteps on the lowest limbs of f and g alone, and collects them in a 2×2
 * matrix with entries in (−2^15, 2^15] and rows |u| + |v| ≤ 2^15. It then applies the matrix to f
 * and g (an exact shift by one limb) and to d and e (a shift modulo p). Limbs are as wide as a
 * batch, so the shift drops a limb and moves no bits.
 *
 * Bounds. f and g stay in [−p, p]. To clear its low limb, t = u·d + v·e gets m·p added with |m| ≤
 * 2^14. So |t + m·p| / 2^15 exceeds the larger of |d| and |e| by at most p/2, and after k batches
 * both are at most (1 + k/2)·p, six bits more than p at the lengths of this library. Reducing them
 * in every batch would cost more; the end subtracts a multiple of p once.
 */
/** Divsteps in a batch, and bits of a limb. */
export const BATCH = 15;

/** Bits of d and e beyond those of p: six for the bound above, and a sign. */
const SPARE_BITS = 7;

/** Constants of the inversion modulo one prime. */
interface DivstepConstants {
  /** Limbs of BATCH bits for f and g. */
  readonly shortLimbs: number;
  /** Limbs of BATCH bits for d and e. */
  readonly limbs: number;
  /** Number of batches after which g = 0 for every input. */
  readonly batches: number;
  /** p in balanced limbs. */
  readonly p: readonly number[];
  /** R² mod p, the initial e. It takes the place of 1, so that the inverse of a·R is a⁻¹·R. */
  readonly start: readonly number[];
  /** −p⁻¹ mod 2^BATCH, balanced. */
  readonly minusInverse: number;
}

/** Derives the constants of a prime. */
export const divstepConstants = (m: Modulus): DivstepConstants => {
  const limbs = Math.ceil((m.bits + SPARE_BITS) / BATCH);
  // Sufficient divsteps for inputs of b ≥ 46 bits with delta starting at 1/2: floor((45907·b +
  // 26313) / 19929) (P. Wuille, "Bounds on divsteps iterations in safegcd",
  // github.com/sipa/safegcd-bounds). Elements modulo some primes need the last batch
  // (tests/stages/divsteps.test.ts). No such element is known for BN254, where the bound is 586 and
  // 39 batches do 585, but no smaller bound is proved.
  const divsteps = Math.floor((45907 * m.bits + 26313) / 19929);
  return {
    shortLimbs: Math.ceil((m.bits + 1) / BATCH),
    limbs,
    batches: Math.ceil(divsteps / BATCH),
    p: balancedDigits(m.p, BATCH, limbs),
    start: digitsOf(m.r2, BATCH, limbs),
    minusInverse: balancedDigits(montgomeryFactor(m.p, BATCH), BATCH, 2)[0] as number,
  };
};

/** The balanced digit of BATCH bits that is congruent to `of` · `times`. */
export interface DigitStatement {
  readonly kind: 'digit';
  readonly name: string;
  readonly of: string;
  readonly times: number;
}

/** A program on signed limbs of BATCH bits, for shaders alone: it has digits. */
export class DivstepLine extends StraightLine<DigitStatement> {
  constructor() {
    super(BATCH);
  }

  digit(name: string, of: string, times: number): string {
    const half = 2 ** (BATCH - 1);
    return this.define({ kind: 'digit', name, of, times }, { least: -half, most: half - 1 });
  }
}

/** Declares the limbs of an input: non-negative, but for the top limb, which has the sign. */
const inputLimbs = (program: DivstepLine, name: string, limbs: number): void => {
  const limb = { least: 0, most: 2 ** BATCH - 1 };
  for (const i of range(limbs)) program.input(`${name}.l${i}`, i < limbs - 1 ? limb : within(2 ** (BATCH - 1)));
};

/** Returns the initial f, which is p. */
export const modulusLimbs = (m: Modulus): number[] => digitsOf(m.p, BATCH, divstepConstants(m).shortLimbs);

/** A pair that a batch updates: `short` is f and g, `wide` is d and e. */
export type BatchPart = 'short' | 'wide';

/** The program of a batch, with the limbs of its two results. */
interface BatchResult {
  readonly program: DivstepLine;
  readonly result: readonly [string[], string[]];
}

/**
 * Multiplies (f, g) or (d, e) by the matrix ((u, v), (q, r)) of a batch and divides by 2^BATCH:
 * exactly for f and g, and modulo p for d and e, by adding the multiple of p that makes the
 * division exact. The two results alternate limb by limb, so that one computes while the other
 * waits for its carry. The two pairs one after the other take half of the registers of all four
 * numbers at once, and no more time (docs/reference/performance.md).
 */
export const applyBatch = (m: Modulus, part: BatchPart): BatchResult => {
  const { limbs, shortLimbs, p, minusInverse } = divstepConstants(m);
  const program = new DivstepLine();
  for (const name of ['u', 'v', 'q', 'r']) program.input(name, within(2 ** BATCH));
  const wide = part === 'wide';
  const [a, b] = wide ? (['d', 'e'] as const) : (['f', 'g'] as const);
  const count = wide ? limbs : shortLimbs;
  for (const name of [a, b]) inputLimbs(program, name, count);
  // the bound holds because |u| + |v| and |q| + |r| are at most 2^15
  const known = { terms: 2, most: 2 ** BATCH * program.interval(`${a}.l0`).most };
  const result: [string[], string[]] = [[], []];
  for (const i of range(count)) {
    for (const [row, [name, x, y]] of [[a, 'u', 'v'] as const, [b, 'q', 'r'] as const].entries()) {
      const terms: Term[] = [
        [x, `${a}.l${i}`],
        [y, `${b}.l${i}`],
      ];
      if (wide) {
        if (i === 0) program.digit(`m${name}`, program.sum(`s${name}`, [...terms], known), minusInverse);
        if (p[i] !== 0) terms.push([`m${name}`, p[i] as number]);
      }
      if (i > 0) terms.push([`h${name}${i - 1}`, 1]);
      const sum = program.sum(`t${name}${i}`, terms, known);
      const [low, high] = [`n${name}${i - 1}`, `h${name}${i}`];
      // the lowest limb is 0, by the choice of the matrix and of m
      if (i > 0) program.mask(low, sum);
      program.floor(high, sum);
      if (i > 0) result[row]?.push(low);
      if (i === count - 1) result[row]?.push(high);
    }
  }
  return { program, result };
};

/** Converts a canonical element to limbs of BATCH bits: the initial g. */
export const toShort = (m: Modulus): Word[] => {
  const words = range(lazyLimbs(m, 32)).map((i) => member('a', `w${i}`));
  return limbsOfWords(words, BATCH, divstepConstants(m).shortLimbs);
};

/** Bound on the multiple k of p that `finish` subtracts, with a margin. */
const MOST_MULTIPLES = 64;

/** Computes sign·d − k·p in non-negative limbs of BATCH bits; k makes it positive. */
export const finish = (m: Modulus): { readonly program: DivstepLine; readonly result: readonly string[] } => {
  const { limbs, p } = divstepConstants(m);
  const program = new DivstepLine();
  program.input('sign', within(1));
  program.input('k', within(MOST_MULTIPLES));
  inputLimbs(program, 'd', limbs);
  const columns = range(limbs).map((i): Term[] => [
    ['sign', `d.l${i}`],
    ['k', -(p[i] as number)],
  ]);
  return { program, result: program.carryAll('w', columns) };
};

/** Converts the result of `finish` to an element in words. */
export const wordsFromWide = (m: Modulus): Word[] => {
  const limbs = finish(m).result.map((name) => input(name, 2 ** BATCH - 1));
  return wordsOfLimbs(limbs, BATCH, lazyLimbs(m, 32));
};
