/**
 * Columns of products of limbs of 24 bits: floats give the high halves of the products, integers
 * the sums of the low halves.
 *
 * For x and y below 2^24, fma(x, y, 2^48) is a float from 2^48 to 2^49, so its bits minus those of
 * 2^48 are an integer h near xy/2^25. The low half xy − 2^25·h is never computed alone: a column
 * sums the products modulo 2^32, sums the bits of the floats, and subtracts 2^25 times the second
 * sum from the first. That is right for *any* h for which the sum of low halves fits 32 bits. The
 * column above takes 2h.
 *
 * Bounds. WGSL allows fma to round the product before the sum, and to round either way. The first
 * rounding errs by less than 2^24, half a unit, and the second by less than a unit, so a low half
 * is within 3/2 units of 0. Columns have intervals of exact integers; a multiple of 2^24 shifts
 * each above 0, and `known` fails if it does not fit a word.
 *
 * Licences of compilers. Each float is made of integers and becomes an integer at once: f32(x) is
 * exact, and the bits of fma(x, y, 2^48) are summed as integers. So no two float operations meet
 * that could be reassociated, and contraction can only choose an h within the bounds, as a fused
 * fma, a separate multiplication, and a sum of higher precision do. No operand or result is a NaN,
 * infinite, subnormal or −0, so fast-math has nothing to assume.
 */
import { FLOAT_LIMB_BITS } from './modulus.js';
import {
  above,
  float,
  known,
  left,
  low,
  minus,
  number,
  roundedBits,
  sumLow,
  timesLow,
  type Word,
  type WordLine,
} from './word-line.js';

/** The unit of high halves: floats from 2^48 to 2^49 are 2^25 apart. */
const UNIT_BITS = 25;
const ROUNDER = 2 ** 48;
/** Its bits as a float. */
const ROUNDER_BITS = (127 + 48) * 2 ** 23;

/** The maximum of a low half, and minus its minimum: less than 3/2 units. */
const MOST_LOW = 3 * 2 ** (UNIT_BITS - 1) - 1;

/** A limb as an integer, and as the float of the same value. */
export interface Factor {
  readonly whole: Word;
  readonly real: Word;
}

/** Returns a factor that is known. */
export const knownFactor = (value: number): Factor => ({ whole: number(value), real: float(number(value)) });

/** A sum of products. */
interface Column {
  /** The sum modulo 2^32. */
  readonly low: Word;
  /** The sum of the bits of the floats. */
  readonly high: Word;
  readonly terms: number;
  /** Bounds of the sum of low halves. */
  readonly least: number;
  readonly most: number;
  /** The maximum of the sum of h. */
  readonly mostHigh: number;
}

const nothing: Column = { low: number(0), high: number(0), terms: 0, least: 0, most: 0, mostHigh: 0 };

export class FloatColumns {
  readonly #program: WordLine;
  readonly #columns: Column[] = [];
  #carry = number(0);
  /** Surplus of the carry, because the column below was shifted above 0. */
  #shifted = 0;

  constructor(program: WordLine) {
    this.#program = program;
  }

  /** Names a limb and its float. */
  factor(name: string, limb: Word): Factor {
    const whole = this.#program.let(name, limb);
    return { whole, real: this.#program.let(`${name}f`, float(whole)) };
  }

  /** Adds products to a column; `name` is new. */
  add(k: number, name: string, pairs: readonly (readonly [Factor, Factor])[]): void {
    const present = pairs.filter(([x, y]) => x.whole.most * y.whole.most > 0);
    if (present.length === 0) return;
    const column = this.#at(k);
    const total = (of: (product: number) => number): number =>
      present.reduce((sum, [x, y]) => sum + of(x.whole.most * y.whole.most), 0);
    const lows = present.map(([x, y]) => timesLow(x.whole, y.whole));
    const highs = present.map(([x, y]) => roundedBits(x.real, y.real, ROUNDER));
    this.#columns[k] = {
      low: this.#program.let(`l${name}`, sumLow(column.low, ...lows)),
      high: this.#program.let(`h${name}`, sumLow(column.high, ...highs)),
      terms: column.terms + present.length,
      least: column.least - present.length * MOST_LOW,
      // no h is below 0
      most: column.most + total((product) => Math.min(product, MOST_LOW)),
      mostHigh: column.mostHigh + total((product) => Math.floor(product / 2 ** UNIT_BITS + 3 / 2)),
    };
  }

  /** Adds to a column the high halves and the carry of the one below, which is settled. */
  gather(k: number): void {
    const column = this.#at(k);
    const below = left(this.#at(k - 1).high, UNIT_BITS - FLOAT_LIMB_BITS);
    const gathered = this.#program.let(`t${k}`, sumLow(column.low, below, this.#carry));
    this.#columns[k] = { ...column, low: gathered };
  }

  /**
   * Returns the lowest 24 bits of a gathered column. Its own floats do not matter, because a unit
   * is a multiple of 2^24, and so are the bits of 2^48 twice.
   */
  digit(k: number): Word {
    return low(sumLow(this.#at(k).low, number(-this.#shifted >>> 0)), FLOAT_LIMB_BITS);
  }

  /**
   * Returns the lowest 24 bits of a gathered column, and keeps the others as the carry. Returns all
   * bits of the topmost column, which is between 0 and `mostOfTop`.
   */
  settle(k: number, mostOfTop?: number): Word {
    const isTop = mostOfTop !== undefined;
    const [{ low: sum, high, least, most }, { terms, mostHigh }] = [this.#at(k), this.#at(k - 1)];
    const shift = isTop ? 0 : Math.max(0, Math.ceil((this.#shifted - least) / 2 ** FLOAT_LIMB_BITS));
    const shifts = shift * 2 ** FLOAT_LIMB_BITS - this.#shifted;
    // the bits of 2^48 are a multiple of 2^7, so those of the own column are lost beyond the word
    const constant = number((shifts - 2 * ROUNDER_BITS * terms) >>> 0);
    const value = minus(sumLow(sum, constant), left(high, UNIT_BITS));
    const bound = mostOfTop ?? most + 2 * mostHigh + this.#carry.most + shifts;
    const settled = this.#program.let(`s${k}`, known(value, bound));
    if (isTop) return settled;
    this.#carry = above(settled, FLOAT_LIMB_BITS);
    this.#shifted = shift;
    return low(settled, FLOAT_LIMB_BITS);
  }

  #at(k: number): Column {
    return this.#columns[k] ?? nothing;
  }
}
