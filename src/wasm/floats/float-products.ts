/**
 * Montgomery products (Montgomery 1985) of numbers in limbs of floats, with addends, and their
 * reduction to numbers near 0.
 *
 * A product is added up by diagonals. Its lower columns are removed in groups: a limb k columns
 * below the lowest that stays is replaced by limb·2^(−width·k) modulo p. That needs no quotient
 * digit, so several columns are removed at once. A quotient digit removes the last one, which
 * leaves a smaller number.
 */
import { balancedDigits, invert } from '../../field/modulus.js';
import { range } from '../../field/straight-line.js';
import { centred, type FloatField } from './float-field.js';
import type { Constant, FloatLine, FloatValue, IntegerValue } from './float-line.js';

/** A number modulo p. */
export interface FloatNumber {
  readonly limbs: readonly FloatValue[];
  /** Absolute value at most, in units of p. */
  readonly most: number;
}

/** Absolute values at most that a number is declared with, in units of p. */
export const SETTLED = 0.51;

/** Room for the rounding of bounds. */
const ROUND_UP = 1 + 2 ** -30;

/** A product of two numbers; a square if both are the same. */
export type NumberPair = readonly [FloatNumber, FloatNumber];
/** A number that is added, or subtracted. */
export type Addend = readonly [number: FloatNumber, sign: 1 | -1];

interface ProductOptions {
  readonly addends?: readonly Addend[];
  /** Whether the result is brought back to within half of p and a little. */
  readonly settle?: boolean;
}

/** Constants of a field. */
interface FieldConstants {
  readonly p: readonly number[];
  /** −p⁻¹ modulo 2^width. */
  readonly n0: number;
  /** 2^(−width·k) modulo p, by k from 1. */
  readonly inverses: readonly { readonly limbs: readonly number[]; readonly most: number }[];
}

/** Columns that are removed at once at most. */
const MOST_AT_ONCE = 3;

const known = new WeakMap<FloatField, FieldConstants>();

const constantsOf = (field: FloatField): FieldConstants => {
  const found = known.get(field);
  if (found !== undefined) return found;
  const limb = 1n << BigInt(field.width);
  const limbsOf = (value: bigint): number[] => balancedDigits(value, field.width, field.limbs);
  const constants = {
    p: limbsOf(field.p),
    n0: Number(centred(-invert(field.p, limb), limb)),
    inverses: range(MOST_AT_ONCE).map((k) => {
      const value = centred(invert(limb ** BigInt(k + 1), field.p), field.p);
      return { limbs: limbsOf(value), most: Math.abs(Number(value) / Number(field.p)) };
    }),
  };
  known.set(field, constants);
  return constants;
};

/** Returns how many columns are removed at once, before the last one. */
const groupsOf = (limbs: number): number[] => {
  const groups: number[] = [];
  for (let left = limbs - 1; left > 0; left -= groups.at(-1) as number) groups.push(Math.min(MOST_AT_ONCE, left));
  return groups;
};

/**
 * Returns the bound of a sum of products after the reduction, in units of p.
 *
 * @param most bound of the sum, in units of p²
 */
export const boundOfProducts = (field: FloatField, most: number): number => {
  const { width, limbs } = field;
  const p = Number(field.p);
  const [unit, half] = [2 ** width, 2 ** (width - 1)];
  let bound = most * p;
  for (const count of groupsOf(limbs)) {
    const removed = unit ** count / p;
    const added = range(count).reduce((sum, k) => sum + half * (constantsOf(field).inverses[k]?.most as number), 0);
    bound = (bound + removed) / unit ** count + added;
  }
  return ((bound + half / p + half) / unit) * ROUND_UP;
};

/** Returns the bound of the top limb of a number. */
const topBound = ({ p, width, limbs }: FloatField, most: number): number =>
  Math.ceil((most * Number(p) * ROUND_UP) / 2 ** (width * (limbs - 1))) + 1;

/**
 * Returns the bounds of the limbs of a number.
 *
 * @param terms sums of so many carried limbs
 */
export const limbBounds = (field: FloatField, most: number, terms = 1): number[] => {
  const half = 2 ** (field.width - 1);
  const top = topBound(field, most / terms);
  return range(field.limbs).map((i) => terms * (i === field.limbs - 1 ? top : half));
};

class ProductWriter {
  readonly #line: FloatLine;
  readonly #field: FloatField;
  readonly #columns: Columns;
  /** Bound of the absolute value of what the columns are, in units of p. */
  #most = 0;

  constructor(line: FloatLine) {
    this.#line = line;
    this.#field = line.field;
    this.#columns = new Columns(line);
  }

  #addProduct(column: number, a: FloatValue, b: FloatValue | number): void {
    if (b === 0) return;
    const { low, high } = this.#line.product(a, b);
    this.#columns.add(column, low);
    this.#columns.add(column + 1, high);
  }

  addProducts(factors: readonly NumberPair[]): void {
    const { limbs } = this.#field;
    const doubled = factors.map(([a, b]) => (a === b ? a.limbs.map((limb) => this.#line.times(limb, 2)) : null));
    for (const d of range(2 * limbs - 1)) {
      for (const [k, [a, b]] of factors.entries()) {
        for (const i of range(limbs)) {
          const j = d - i;
          if (j < 0 || j >= limbs) continue;
          const twice = doubled[k];
          if (twice && j < i) continue;
          const other = twice && j > i ? twice[j] : b.limbs[j];
          this.#addProduct(d, a.limbs[i] as FloatValue, other as FloatValue);
        }
      }
    }
    this.#most = boundOfProducts(
      this.#field,
      factors.reduce((sum, [a, b]) => sum + a.most * b.most, 0),
    );
  }

  addAddends(addends: readonly Addend[]): void {
    const { limbs } = this.#field;
    for (const [{ limbs: own }, sign] of addends)
      for (const j of range(limbs)) this.#columns.add(limbs + j, this.#line.toInteger(own[j] as FloatValue, sign < 0));
  }

  /** Removes the lower columns. */
  reduce(): void {
    let column = 0;
    for (const count of groupsOf(this.#field.limbs)) {
      this.#removeByInverses(column, count);
      column += count;
    }
    this.#removeByQuotient(column);
  }

  #removeByInverses(first: number, count: number): void {
    const { inverses } = constantsOf(this.#field);
    const lows = range(count).map((k) => this.#split(first + k));
    for (const j of range(this.#field.limbs)) {
      for (const [k, low] of lows.entries())
        this.#addProduct(first + count + j, low, inverses[count - 1 - k]?.limbs[j] as number);
    }
  }

  #removeByQuotient(column: number): void {
    const { p, n0 } = constantsOf(this.#field);
    const low = this.#split(column);
    const { digit, carry } = this.#line.quotientDigit(low, n0, p[0] as number);
    for (const j of range(this.#field.limbs).slice(1)) this.#addProduct(column + j, digit, p[j] as number);
    this.#columns.add(column + 1, carry);
  }

  /** Splits a column: leaves its carry in the next one. @returns its limb */
  #split(column: number): FloatValue {
    const lifted = this.#columns.lifted(column);
    const limb = this.#line.limb(lifted);
    this.#columns.add(column + 1, this.#line.carry(lifted));
    return limb;
  }

  /** Subtracts the multiple of p that leaves a number near 0. */
  #settle(): void {
    const { limbs, width, p } = this.#field;
    const line = this.#line;
    const top = 2 * limbs - 1;
    // the columns are not carried: with the carry of the next one, the top limb is known to a unit
    const below = limbs === 1 ? null : line.carry(this.#columns.peek(top - 1, line.lift));
    const own = this.#columns.peek(top, line.floatPlus - (below?.plus ?? 0n));
    const value = below === null ? own : line.integerSum(own, below);
    const error = below === null ? 0 : 1;
    const unit = 2 ** (width * (limbs - 1)) / Number(p);
    const most = this.#most + error * unit;
    const float = line.toFloat(value, topBound(this.#field, most));
    const quotients = Math.floor(most * ROUND_UP + 0.5);
    const quotient = line.rounded(float, -unit, quotients);
    for (const [j, limb] of constantsOf(this.#field).p.entries())
      if (limb !== 0) this.#columns.add(limbs + j, line.multiple(quotient, limb));
    this.#most = 0.5 + error * unit + 2 ** -40;
  }

  finish(addends: readonly Addend[], settle: boolean): FloatNumber {
    const { limbs } = this.#field;
    this.#most = (this.#most + addends.reduce((sum, [{ most }]) => sum + most, 0)) * ROUND_UP;
    if (settle) this.#settle();
    const lower = range(limbs - 1).map((j) => this.#split(limbs + j));
    const top = this.#columns.float(2 * limbs - 1, topBound(this.#field, this.#most));
    this.#columns.finish();
    return { limbs: [...lower, top], most: this.#most };
  }
}

/** Writes Σ a·b·R⁻¹ + Σ ±addend. */
export const writeProducts = (
  line: FloatLine,
  factors: readonly NumberPair[],
  { addends = [], settle = false }: ProductOptions = {},
): FloatNumber => {
  const writer = new ProductWriter(line);
  writer.addProducts(factors);
  writer.addAddends(addends);
  writer.reduce();
  return writer.finish(addends, settle);
};

/** Writes Σ ±addend, brought back to within half of p and a little. */
export const writeSum = (line: FloatLine, addends: readonly Addend[]): FloatNumber => {
  const writer = new ProductWriter(line);
  writer.addAddends(addends);
  return writer.finish(addends, true);
};

/* Columns of integers, of which a number is known: the constants of all their terms. */

/**
 * Sums of terms. Each term brings a constant, as does the use of a column. One constant makes up
 * for all of them: it is added to the first term, where nothing waits for it, and is known when the
 * column is complete.
 */
class Columns {
  readonly #line: FloatLine;
  readonly #sums: (IntegerValue | undefined)[] = [];
  readonly #constants: Constant[] = [];
  readonly #peeks: { readonly column: number; readonly constant: Constant; readonly plus: bigint }[] = [];
  /** Known number of a column when it was completed. */
  readonly #completed = new Map<number, bigint>();

  constructor(line: FloatLine) {
    this.#line = line;
  }

  add(column: number, term: IntegerValue): void {
    if (this.#completed.has(column)) throw new Error(`column ${column} is complete`);
    const sum = this.#sums[column];
    if (sum !== undefined) {
      this.#sums[column] = this.#line.integerSum(sum, term);
      return;
    }
    const constant: Constant = { bits: 0n };
    this.#constants[column] = constant;
    this.#sums[column] = this.#line.integerShift(term, constant, term.plus);
  }

  #sumOf(column: number): IntegerValue {
    const sum = this.#sums[column];
    if (sum === undefined) throw new Error(`column ${column} has no term`);
    return sum;
  }

  /** Returns the complete sum of a column, with `plus` as its known number. */
  complete(column: number, plus: bigint): IntegerValue {
    const sum = this.#sumOf(column);
    (this.#constants[column] as Constant).bits = BigInt.asUintN(64, plus - sum.plus);
    this.#completed.set(column, plus - sum.plus);
    return { ...sum, plus };
  }

  /** Returns what a column is so far, with `plus` as its known number. */
  peek(column: number, plus: bigint): IntegerValue {
    const sum = this.#sumOf(column);
    const constant: Constant = { bits: 0n };
    this.#peeks.push({ column, constant, plus: plus - sum.plus });
    return this.#line.integerShift(sum, constant, plus);
  }

  /** Returns a complete column that is lifted. */
  lifted(column: number): IntegerValue {
    return this.complete(column, this.#line.lift);
  }

  /** Returns a complete column as a float. @param most its bound */
  float(column: number, most: number): FloatValue {
    return this.#line.toFloat(this.complete(column, this.#line.floatPlus), most);
  }

  /** Sets the constants of all peeks. Every peeked column must be complete. */
  finish(): void {
    for (const { column, constant, plus } of this.#peeks) {
      const own = this.#completed.get(column);
      if (own === undefined) throw new Error(`column ${column} is not complete`);
      constant.bits = BigInt.asUintN(64, plus - own);
    }
  }
}
