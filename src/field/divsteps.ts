import type { CarryMode } from './carry.js';
import { balancedDigits, digitsOf, LIMB_BITS, type Modulus, mod } from './modulus.js';
import { limbBounds } from './product.js';
import { type Limbs, range, StraightLine, type Term, tightLimb, within } from './straight-line.js';

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
  const divsteps = Math.floor((45907 * m.bits + 26313) / 19929);
  const one = 1n << BigInt(BATCH);
  let inverse = 1n;
  for (let i = 0; i < 4; i++) inverse = mod(inverse * (2n - m.p * inverse), one);
  return {
    shortLimbs: Math.ceil((m.bits + 1) / BATCH),
    limbs,
    batches: Math.ceil(divsteps / BATCH),
    p: balancedDigits(m.p, BATCH, limbs),
    start: digitsOf(m.r2, BATCH, limbs),
    minusInverse: balancedDigits(mod(-inverse, one), BATCH, 2)[0] as number,
  };
};

/**
 * Limbs from 0 up where shifts are cheap, and carries are floors; limbs around 0 where carries go through floats, which round. The top
 * limb has the sign either way.
 */
const inputLimbs = (program: StraightLine, name: string, limbs: number, mode: CarryMode): void => {
  const limb = mode === 'float' ? within(tightLimb(BATCH)) : { least: 0, most: 2 ** BATCH - 1 };
  for (const i of range(limbs)) program.input(`${name}.l${i}`, i < limbs - 1 ? limb : within(2 ** (BATCH - 1)));
};

/** f to begin with: p, in limbs of that kind. */
export const modulusLimbs = (m: Modulus, mode: CarryMode): number[] =>
  (mode === 'float' ? balancedDigits : digitsOf)(m.p, BATCH, divstepConstants(m).shortLimbs);

/** The limbs of f, g, d and e after a batch. */
export interface BatchResult {
  readonly program: StraightLine;
  readonly f: readonly string[];
  readonly g: readonly string[];
  readonly d: readonly string[];
  readonly e: readonly string[];
}

/**
 * (f, g) and (d, e) times the matrix ((u, v), (q, r)) of a batch, divided by 2^BATCH: exactly for f and g; modulo p for d and e, by
 * adding the multiple of p that makes it exact. The four take turns limb by limb: each waits for its own carries, and meanwhile the others go on.
 */
export const applyBatch = (m: Modulus, mode: CarryMode): BatchResult => {
  const { limbs, shortLimbs, p, minusInverse } = divstepConstants(m);
  const program = new StraightLine(BATCH);
  for (const name of ['u', 'v', 'q', 'r']) program.input(name, within(2 ** BATCH));
  for (const name of ['f', 'g']) inputLimbs(program, name, shortLimbs, mode);
  for (const name of ['d', 'e']) inputLimbs(program, name, limbs, mode);
  // as |u| + |v| and |q| + |r| are at most 2^15
  const known = { terms: 2, most: 2 ** BATCH * program.interval('d.l0').most };
  const result = { f: [] as string[], g: [] as string[], d: [] as string[], e: [] as string[] };
  const rows = [
    ['f', 'u', 'v', 'f', 'g', shortLimbs],
    ['g', 'q', 'r', 'f', 'g', shortLimbs],
    ['d', 'u', 'v', 'd', 'e', limbs],
    ['e', 'q', 'r', 'd', 'e', limbs],
  ] as const;
  for (const i of range(limbs)) {
    for (const [name, x, y, a, b, count] of rows) {
      if (i >= count) continue;
      const terms: Term[] = [
        [x, `${a}.l${i}`],
        [y, `${b}.l${i}`],
      ];
      if (a === 'd') {
        if (i === 0) program.digit(`m${name}`, program.sum(`s${name}`, [...terms], known), minusInverse);
        if (p[i] !== 0) terms.push([`m${name}`, p[i] as number]);
      }
      if (i > 0) terms.push([`h${name}${i - 1}`, 1]);
      const sum = program.sum(`t${name}${i}`, terms, known);
      const [low, high] = [`n${name}${i - 1}`, `h${name}${i}`];
      if (mode === 'float') {
        program.carry(high, sum);
        if (i > 0) program.low(low, sum, high);
      } else {
        // the low limb of the first is 0: that is what the batch, and m, are for
        program.floor(high, sum, i === 0 ? 0 : program.mask(low, sum));
      }
      if (i > 0) result[name].push(low);
      if (i === count - 1) result[name].push(high);
    }
  }
  return { program, ...result };
};

/** Which limb of `to` bits a limb of `from` bits belongs to, and how many bits from its end. */
const regrouped = (name: (i: number) => string, from: number, count: number, to: number, limbs: number): Term[][] => {
  const columns = range(limbs).map((): Term[] => []);
  for (const i of range(count)) columns[Math.floor((i * from) / to)]?.push([name(i), 2 ** ((i * from) % to)]);
  return columns;
};

/** g to begin with: the limbs of BATCH bits of a canonical element. */
export const toShort = (m: Modulus, mode: CarryMode): Limbs => {
  const program = new StraightLine(BATCH);
  for (const i of range(m.limbs)) program.input(`a.l${i}`, limbBounds.canonical);
  const columns = regrouped((i) => `a.l${i}`, LIMB_BITS, m.limbs, BATCH, divstepConstants(m).shortLimbs);
  return { program, result: program.carryAll('r', columns, mode === 'float') };
};

/** The most multiples of p that d may be away from 0, and a few more. */
const MOST_MULTIPLES = 64;

/** sign·d − k·p, in balanced limbs of BATCH bits. */
export const finish = (m: Modulus, mode: CarryMode): Limbs => {
  const { limbs, p } = divstepConstants(m);
  const program = new StraightLine(BATCH);
  program.input('sign', within(1));
  program.input('k', within(MOST_MULTIPLES));
  inputLimbs(program, 'd', limbs, mode);
  const columns = range(limbs).map((i): Term[] => [
    ['sign', `d.l${i}`],
    ['k', -(p[i] as number)],
  ]);
  return { program, result: program.carryAll('w', columns) };
};

/** The limbs of the field of a number in balanced limbs of BATCH bits, called as `finish` calls them. */
export const fromWide = (m: Modulus, mode: CarryMode): Limbs => {
  const { limbs } = divstepConstants(m);
  const program = new StraightLine(LIMB_BITS);
  const names = finish(m, mode).result;
  for (const name of names) program.input(name, within(tightLimb(BATCH)));
  const columns = regrouped((i) => names[i] as string, BATCH, limbs, LIMB_BITS, m.limbs);
  return { program, result: program.carryAll('r', columns) };
};
