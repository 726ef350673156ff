/**
 * Montgomery products and sums as straight-line programs on integers of 64 bits (Montgomery 1985).
 * Limbs have up to 29 bits, so that a column of products needs no carry before it is complete. The
 * intervals of `StraightLine` prove that no program overflows.
 *
 * An element is `limbs` numbers of 32 bits, all but the last in [0, 2^width). Its value is within a
 * quarter of p of [0, p]. Differences are taken limb by limb and multiplied without a carry.
 */
import { type Degree, digitsOf, invert, mod, montgomeryFactor } from '../../field/modulus.js';
import { type Interval, type Limbs, range, StraightLine, type Term } from '../../field/straight-line.js';

/**
 * Bound of intervals, a little less than 2^63. Beyond 2^53 the bounds of intervals are rounded, as
 * they are doubles: a program has fewer than 2^10 statements of fewer than 2^6 terms, and each term
 * is off by at most 2^10.
 */
const MOST_OF_64 = 2 ** 63 - 2 ** 27;

/** Bits of a limb at most. */
const MAX_LIMB_BITS = 29;

/** A prime field and the format of its elements in memory. */
export interface FieldFormat {
  readonly p: bigint;
  /** Bits of a limb. */
  readonly width: number;
  readonly limbs: number;
  /** R mod p, which is 1 in Montgomery form, with R = 2^(width·limbs). */
  readonly r: bigint;
  readonly rInverse: bigint;
  /** Bytes of an element in memory. */
  readonly bytes: number;
}

/** A prime field whose elements are signed limbs of up to 29 bits. */
export interface WasmField extends FieldFormat {
  readonly kind: 'integers';
  /** Bits of p. */
  readonly bits: number;
  /** −p⁻¹ mod 2^width. */
  readonly n0: number;
}

/**
 * Returns by how many bits R is longer than p: enough that products of sums of a few elements are
 * within a quarter of p of [0, p].
 */
const spareBits = (degree: Degree): number => (degree === 1 ? 5 : 6);

export const wasmField = (p: bigint, degree: Degree): WasmField => {
  const bits = p.toString(2).length;
  const limbs = Math.ceil((bits + spareBits(degree)) / MAX_LIMB_BITS);
  const width = Math.ceil((bits + spareBits(degree)) / limbs);
  const R = 1n << BigInt(width * limbs);
  return {
    ...{ kind: 'integers' as const, p, bits, width, limbs, r: R % p, rInverse: invert(R, p), bytes: 4 * limbs },
    n0: Number(montgomeryFactor(p, width)),
  };
};

/** Returns a·R mod p. */
export const toMontgomery = (f: FieldFormat, a: bigint): bigint => mod(a * f.r, f.p);

/** Kind of an operand; `signed` is an element or a difference, either negated or not. */
export type Operand = 'element' | 'difference' | 'signed';

/** Returns the interval of a limb. */
const limbOf = ({ bits, width, limbs }: WasmField, operand: Operand, i: number): Interval => {
  const isLast = i === limbs - 1;
  // the value is from a quarter of p below 0 to a quarter of p above p
  const top = 2 ** (bits - width * (limbs - 1));
  const [least, most] = isLast ? [-Math.ceil(top / 4) - 1, Math.ceil((5 * top) / 4) + 1] : [0, 2 ** width - 1];
  if (operand === 'element') return { least, most };
  const far = operand === 'difference' ? most - least : 2 * Math.max(most, -least);
  return { least: -far, most: far };
};

/** Declares the limbs of an operand as inputs. */
const input = (program: StraightLine, f: WasmField, name: string, operand: Operand): void => {
  for (const i of range(f.limbs)) program.input(`${name}${i}`, limbOf(f, operand, i));
};

/** Integer multiple of an operand. */
export interface Addend {
  readonly operand: Operand;
  readonly times: number;
}

/** Absolute value at most of a number that `reduced` takes, in units of p; a power of two. */
const MAX_REDUCED = 16;

/**
 * Reduces a number between −16p and 16p: returns the columns of a congruent one within p/64 of [0,
 * p].
 *
 * The carries of the three highest columns give the top limb to within two units. Its upper 12 bits
 * times 1/p give the quotient, too low by less than 2^−6.
 */
const reduced = (program: StraightLine, f: WasmField, columns: readonly (readonly Term[])[]): Term[][] => {
  const { p, bits, width, limbs } = f;
  const highest = columns.slice(-3);
  const topBits = bits - width * (limbs - 1);
  let top = '';
  for (const [i, column] of highest.entries()) {
    const terms: Term[] = [...column, ...(i === 0 ? [] : [[program.floor(`f${i}`, top), 1] as Term])];
    // bounded by the value: intervals of columns would be too wide
    const known = i === highest.length - 1 ? { terms: terms.length, most: MAX_REDUCED * 2 ** topBits + 2 } : null;
    top = program.sum(`s${i}`, terms, known);
  }
  const kept = Math.min(12, topBits);
  const cut = program.floor('cut', program.sum('scaled', [[top, 2 ** (width - (topBits - kept))]]));
  const unit = Number((1n << BigInt(width + bits - kept)) / p);
  const quotient = program.floor('quotient', program.sum('estimate', [[cut, unit]]));
  const limbsOfP = digitsOf(p, width, limbs);
  return columns.map((terms, i) => [...terms, [quotient, -(limbsOfP[i] as number)]]);
};

/** Declares the addends. @returns the terms of column i */
const addendsOf = (program: StraightLine, f: WasmField, addends: readonly Addend[]): ((i: number) => Term[]) => {
  for (const [k, { operand }] of addends.entries()) input(program, f, `z${k}_`, operand);
  return (i) => addends.map(({ times }, k): Term => [`z${k}_${i}`, times]);
};

/** Returns a program for Σ times·operand, reduced. The sum must be between −16p and 16p. */
export const sumProgram = (f: WasmField, addends: readonly Addend[]): Limbs => {
  const program = new StraightLine(f.width, MOST_OF_64);
  const column = addendsOf(program, f, addends);
  return { program, result: program.carryAll('r', reduced(program, f, range(f.limbs).map(column))) };
};

/**
 * Returns a program for a·b·R⁻¹ + Σ times·operand, by operand scanning with interleaved reduction
 * (CIOS; Koç, Acar, Kaliski 1996).
 *
 * With R ≥ 32p and |a·b| ≤ 8p² the product is in [−p/4, 5p/4]. With addends the result is reduced.
 *
 * @param factors two operands, or one that is squared
 */
export const productProgram = (f: WasmField, factors: readonly Operand[], addends: readonly Addend[]): Limbs => {
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
  const all = addends.length === 0 ? last : reduced(program, f, last);
  return { program, result: program.carryAll('r', all) };
};
