/**
 * Montgomery products for machines that multiply 64 bits: limbs of up to 29 bits, so that a column of products needs no carry before all of
 * them are in it. Straight-line programs like those of shaders, and under the same keeper of intervals.
 *
 * An element is held as `limbs` numbers of 32 bits: all but the last in [0, 2^width), and the value within a quarter of p of [0, p]. Differences of two
 * are taken limb by limb, not carried, and multiplied as they are.
 */
import { type Degree, digitsOf, invert, mod, montgomeryFactor } from '../../field/modulus.js';
import { type Interval, type Limbs, range, StraightLine, type Term } from '../../field/straight-line.js';

/**
 * A little less than 2^63. Beyond 2^53 the keeper's doubles round; a program has less than 2^10 statements of less than 2^6 terms, each of
 * which is off by 2^10 at most.
 */
export const MOST_OF_64 = 2 ** 63 - 2 ** 27;

const MOST_WIDTH = 29;

/** A prime, and how its elements are held. */
export interface WasmField {
  readonly p: bigint;
  readonly bits: number;
  /** Of a limb. */
  readonly width: number;
  readonly limbs: number;
  /** R mod p, that is 1 in Montgomery form: R = 2^(width·limbs). */
  readonly r: bigint;
  readonly rInverse: bigint;
  /** −p⁻¹ mod 2^width. */
  readonly n0: number;
  readonly bytes: number;
}

/** R is so many bits longer than p: products of sums of a few elements come out within a quarter of p of [0, p]. */
const spareBits = (degree: Degree): number => (degree === 1 ? 5 : 6);

export const wasmField = (p: bigint, degree: Degree): WasmField => {
  const bits = p.toString(2).length;
  const limbs = Math.ceil((bits + spareBits(degree)) / MOST_WIDTH);
  const width = Math.ceil((bits + spareBits(degree)) / limbs);
  const R = 1n << BigInt(width * limbs);
  return {
    ...{ p, bits, width, limbs, r: R % p, rInverse: invert(R, p), bytes: 4 * limbs },
    n0: Number(montgomeryFactor(p, width)),
  };
};

export const toWide = (f: WasmField, a: bigint): bigint => mod(a * f.r, f.p);
export const fromWide = (f: WasmField, a: bigint): bigint => mod(a * f.rInverse, f.p);

/** An operand: an element, a difference of two, or what may have either sign: an element, or a difference of two. */
export type Operand = 'element' | 'difference' | 'signed';

/** What the limbs of an operand may be. */
const limbOf = ({ bits, width, limbs }: WasmField, operand: Operand, i: number): Interval => {
  const isLast = i === limbs - 1;
  // a quarter of p below 0 and above p
  const top = 2 ** (bits - width * (limbs - 1));
  const [least, most] = isLast ? [-Math.ceil(top / 4) - 1, Math.ceil((5 * top) / 4) + 1] : [0, 2 ** width - 1];
  if (operand === 'element') return { least, most };
  const far = operand === 'difference' ? most - least : 2 * Math.max(most, -least);
  return { least: -far, most: far };
};

/** Declares an operand's limbs. */
const input = (program: StraightLine, f: WasmField, name: string, operand: Operand): void => {
  for (const i of range(f.limbs)) program.input(`${name}${i}`, limbOf(f, operand, i));
};

/** What is added to a product, or to nothing: an operand so many times. */
export interface Addend {
  readonly operand: Operand;
  readonly times: number;
}

/** How far from 0 a number may be that is brought back, in units of p: a power of two. */
const FARTHEST = 16;

/**
 * Of the columns of a number between −16p and 16p, those of one within p/64 of [0, p] that is congruent to it.
 *
 * Of the number the top limb is known to two units without any carry but those of the three highest columns. It is cut down to some 12 bits, and
 * times 1/p in units of those gives the quotient, too low by less than 2^-6.
 */
const settled = (program: StraightLine, f: WasmField, columns: readonly (readonly Term[])[]): Term[][] => {
  const { p, bits, width, limbs } = f;
  const highest = columns.slice(-3);
  const topBits = bits - width * (limbs - 1);
  let top = '';
  for (const [i, column] of highest.entries()) {
    const terms: Term[] = [...column, ...(i === 0 ? [] : [[program.floor(`f${i}`, top), 1] as Term])];
    // by the value and not by the columns
    const known = i === highest.length - 1 ? { terms: terms.length, most: FARTHEST * 2 ** topBits + 2 } : null;
    top = program.sum(`s${i}`, terms, known);
  }
  const kept = Math.min(12, topBits);
  const cut = program.floor('cut', program.sum('scaled', [[top, 2 ** (width - (topBits - kept))]]));
  const unit = Number((1n << BigInt(width + bits - kept)) / p);
  const quotient = program.floor('quotient', program.sum('estimate', [[cut, unit]]));
  const limbsOfP = digitsOf(p, width, limbs);
  return columns.map((terms, i) => [...terms, [quotient, -(limbsOfP[i] as number)]]);
};

/** Declares what is added; a column of it. */
const addendsOf = (program: StraightLine, f: WasmField, addends: readonly Addend[]): ((i: number) => Term[]) => {
  for (const [k, { operand }] of addends.entries()) input(program, f, `z${k}_`, operand);
  return (i) => addends.map(({ times }, k): Term => [`z${k}_${i}`, times]);
};

/** Σ times·operand, brought back to [0, p] or next to it; from −16p to 16p. */
export const wideSum = (f: WasmField, addends: readonly Addend[]): Limbs => {
  const program = new StraightLine(f.width, MOST_OF_64);
  const column = addendsOf(program, f, addends);
  return { program, result: program.carryAll('r', settled(program, f, range(f.limbs).map(column)), false) };
};

/**
 * a·b·R⁻¹ + Σ times·operand, by operand scanning with interleaved reduction (Koç, Acar, Kaliski 1996: CIOS).
 *
 * Value. With R ≥ 32p, of operands whose product is within 8p² the first part is in [−p/4, 5p/4]. Where something is added, what comes out is brought
 * back (`settled`).
 *
 * @param factors two, or one that is squared
 */
export const wideProduct = (f: WasmField, factors: readonly Operand[], addends: readonly Addend[]): Limbs => {
  const { width, limbs } = f;
  const program = new StraightLine(width, MOST_OF_64);
  for (const [i, factor] of factors.entries()) input(program, f, ['a', 'b'][i] as string, factor);
  const added = addendsOf(program, f, addends);
  const square = factors.length === 1;
  if (square) for (const i of range(limbs).slice(1)) program.sum(`e${i}`, [[`a${i}`, 2]]);
  const term = (i: number, j: number): Term[] => {
    if (!square) return [[`a${i}`, `b${j}`]];
    if (j < i) return [];
    return [[`a${i}`, j === i ? `a${i}` : `e${j}`]];
  };
  const p = digitsOf(f.p, width, limbs);
  let columns: (string | null)[] = range(limbs).map(() => null);
  for (const i of range(limbs)) {
    columns = columns.map((column, j) => {
      const terms = [...(column === null ? [] : [[column, 1] as Term]), ...term(i, j)];
      return terms.length === 0 ? null : program.sum(`t${i}_${j}`, terms);
    });
    const lowest = columns[0] as string;
    const low = program.mask(`l${i}`, lowest);
    const q = program.mask(`q${i}`, program.sum(`m${i}`, [[low, f.n0]]));
    const cleared = program.sum(`v${i}`, [
      [lowest, 1],
      [q, p[0] as number],
    ]);
    const carry = program.floor(`h${i}`, cleared);
    columns = range(limbs).map((j) => {
      const above = columns[j + 1];
      const added: Term[] = j + 1 < limbs && p[j + 1] !== 0 ? [[q, p[j + 1] as number]] : [];
      const terms: Term[] = [
        ...(above === null || above === undefined ? [] : [[above, 1] as Term]),
        ...added,
        ...(j === 0 ? [[carry, 1] as Term] : []),
      ];
      return terms.length === 0 ? null : program.sum(`u${i}_${j}`, terms);
    });
  }
  const last = columns.map((column, i): Term[] => [...(column === null ? [] : [[column, 1] as Term]), ...added(i)]);
  const all = addends.length === 0 ? last : settled(program, f, last);
  return { program, result: program.carryAll('r', all, false) };
};
