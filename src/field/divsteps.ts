import { carriesThroughFloats } from './carry.js';
import { balancedDigits, digitsOf, LIMB_BITS, lazyLimbs, type Modulus, montgomeryFactor } from './modulus.js';
import { limbBounds } from './product.js';
import { type Limbs, range, StraightLine, type Term, tightLimb, within } from './straight-line.js';
import { input, limbsOfWords, type Word, wordsOfLimbs } from './word-line.js';

/**
 * The field inversion: Bernstein–Yang division steps ("Fast constant-time gcd computation and modular inversion", TCHES 2019/3)
 * in the half-delta variant, in batches.
 *
 * One batch does BATCH divsteps on the lowest limbs of f and g alone, gathers them in a 2×2 matrix with entries in
 * (−2^15, 2^15] and rows |u| + |v| ≤ 2^15, and then applies the matrix to f, g (exact shift by one limb) and to d, e (shift
 * modulo p). With limbs as wide as a batch the shift drops a limb and moves no bits.
 *
 * Bounds. f and g stay in [−p, p]. To clear its low limb, t = u·d + v·e gets m·p added with |m| ≤ 2^14: |t + m·p| / 2^15 is at most
 * p/2 more than the larger of |d| and |e|, so that after k batches both are at most (1 + k/2)·p, six bits more than p at the
 * lengths of this library. That is cheaper than keeping them down in every batch; the end takes off a multiple of p once.
 */
export const BATCH = 15;

const SPARE_BITS = 7;

export interface DivstepConstants {
  /** Limbs of BATCH bits for f and g. */
  readonly shortLimbs: number;
  /** The same for d and e. */
  readonly limbs: number;
  /** Batches after which g = 0 for every input. */
  readonly batches: number;
  readonly p: readonly number[];
  /** R² mod p: e starts here instead of at 1, so that the inverse of a·R comes out as a⁻¹·R. */
  readonly start: readonly number[];
  /** −p⁻¹ mod 2^BATCH, balanced. */
  readonly minusInverse: number;
}

export const divstepConstants = (m: Modulus): DivstepConstants => {
  const limbs = Math.ceil((m.bits + SPARE_BITS) / BATCH);
  // Divsteps that suffice for inputs of b bits with delta starting at 1/2: floor((45907·b + 26313) / 19929), b ≥ 46
  // (P. Wuille, "Bounds on divsteps iterations in safegcd", github.com/sipa/safegcd-bounds).
  // Some primes have elements that need the last batch (tests/divsteps.test.ts). For BN254 none is known: the bound asks for 586, of which 39
  // batches would do 585, but no smaller one is proved.
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

/**
 * Limbs from 0 up where carries are shifts, and so floors; limbs around 0 where they go through floats, which round. The top
 * limb has the sign either way.
 */
const inputLimbs = (m: Modulus, program: StraightLine, name: string, limbs: number): void => {
  const limb = carriesThroughFloats(m) ? within(tightLimb(BATCH)) : { least: 0, most: 2 ** BATCH - 1 };
  for (const i of range(limbs)) program.input(`${name}.l${i}`, i < limbs - 1 ? limb : within(2 ** (BATCH - 1)));
};

/** f to begin with: p, in limbs of that kind. */
export const modulusLimbs = (m: Modulus): number[] =>
  (carriesThroughFloats(m) ? balancedDigits : digitsOf)(m.p, BATCH, divstepConstants(m).shortLimbs);

/** Of what a batch makes another: f and g, d and e. */
export type BatchPart = 'short' | 'wide';

/** The limbs of f and g after a batch, or of d and e. */
export interface BatchResult {
  readonly program: StraightLine;
  readonly result: readonly [string[], string[]];
}

/**
 * (f, g) or (d, e) times the matrix ((u, v), (q, r)) of a batch, divided by 2^BATCH: exactly for f and g; modulo p for d and e, by adding the
 * multiple of p that makes it exact. The two take turns limb by limb: each waits for its own carries, and meanwhile the other goes on. The pairs one after
 * the other take half of the registers that all four take together, and no time (docs/performance.md).
 */
export const applyBatch = (m: Modulus, part: BatchPart): BatchResult => {
  const { limbs, shortLimbs, p, minusInverse } = divstepConstants(m);
  const floats = carriesThroughFloats(m);
  const program = new StraightLine(BATCH);
  for (const name of ['u', 'v', 'q', 'r']) program.input(name, within(2 ** BATCH));
  const wide = part === 'wide';
  const [a, b] = wide ? (['d', 'e'] as const) : (['f', 'g'] as const);
  const count = wide ? limbs : shortLimbs;
  for (const name of [a, b]) inputLimbs(m, program, name, count);
  // as |u| + |v| and |q| + |r| are at most 2^15
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
      if (floats) {
        program.carry(high, sum);
        if (i > 0) program.low(low, sum, high);
      } else {
        // the low limb of the first is 0: that is what the batch, and m, are for
        if (i > 0) program.mask(low, sum);
        program.floor(high, sum);
      }
      if (i > 0) result[row]?.push(low);
      if (i === count - 1) result[row]?.push(high);
    }
  }
  return { program, result };
};

/** Which limb of `to` bits a limb of `from` bits belongs to, and how many bits from its end. */
const regrouped = (name: (i: number) => string, from: number, count: number, to: number, limbs: number): Term[][] => {
  const columns = range(limbs).map((): Term[] => []);
  for (const i of range(count)) columns[Math.floor((i * from) / to)]?.push([name(i), 2 ** ((i * from) % to)]);
  return columns;
};

/** g to begin with: limbs of BATCH bits of a canonical element in limbs. */
export const toShort = (m: Modulus): Limbs => {
  const program = new StraightLine(BATCH);
  for (const i of range(m.limbs)) program.input(`a.l${i}`, limbBounds.canonical);
  const columns = regrouped((i) => `a.l${i}`, LIMB_BITS, m.limbs, BATCH, divstepConstants(m).shortLimbs);
  return { program, result: program.carryAll('r', columns) };
};

/** The same of one in words. */
export const toShortFromWords = (m: Modulus): Word[] => {
  const words = range(lazyLimbs(m, 32)).map((i) => input(`a.w${i}`));
  return limbsOfWords(words, BATCH, divstepConstants(m).shortLimbs);
};

/** The most multiples of p that d may be away from 0, and a few more. */
const MOST_MULTIPLES = 64;

/** sign·d − k·p, in limbs of BATCH bits: balanced, or from 0 up for elements in words, where k makes it positive. */
export const finish = (m: Modulus): Limbs => {
  const { limbs, p } = divstepConstants(m);
  const program = new StraightLine(BATCH);
  program.input('sign', within(1));
  program.input('k', within(MOST_MULTIPLES));
  inputLimbs(m, program, 'd', limbs);
  const columns = range(limbs).map((i): Term[] => [
    ['sign', `d.l${i}`],
    ['k', -(p[i] as number)],
  ]);
  return { program, result: program.carryAll('w', columns, carriesThroughFloats(m)) };
};

/** An element in limbs of a number in balanced limbs of BATCH bits, called as `finish` calls them. */
export const fromWide = (m: Modulus): Limbs => {
  const { limbs } = divstepConstants(m);
  const program = new StraightLine(LIMB_BITS);
  const names = finish(m).result;
  for (const name of names) program.input(name, within(tightLimb(BATCH)));
  const columns = regrouped((i) => names[i] as string, BATCH, limbs, LIMB_BITS, m.limbs);
  return { program, result: program.carryAll('r', columns) };
};

/** An element in words of a number in limbs of BATCH bits from 0 up, called as `finish` calls them. */
export const wordsFromWide = (m: Modulus): Word[] => {
  const limbs = finish(m).result.map((name) => input(name, 2 ** BATCH - 1));
  return wordsOfLimbs(limbs, BATCH, lazyLimbs(m, 32));
};
