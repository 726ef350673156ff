/**
 * Straight-line programs on pairs of doubles and of integers of 64 bits. A multiply-add with one
 * rounding gives the high and the low half of a product of two limbs, each as an integer in the
 * mantissa of a float (Emmart, "Faster modular exponentiation using double precision floating point
 * arithmetic on the GPU", ARITH 2018). The bits of such floats are added as integers: a column of
 * products needs no carry before it is complete.
 *
 * Interval arithmetic bounds every value while a program is made. Making it fails if any input
 * within its bounds could be rounded where it must not, or could overflow.
 */

import type { Address } from '../encoder/code.js';
import { bitsOf, type FloatField } from './float-field.js';

/** Bits of a constant, in both lanes; known at the latest when the program is written. */
export interface Constant {
  bits: bigint;
}

/** Operations on vectors of two lanes. */
export type FloatOperation = 'madd' | 'add' | 'sub' | 'integerAdd' | 'and' | 'or' | 'xor' | 'shift';

/** A statement, which defines `name`, or stores a value. */
export type FloatStatement =
  | { readonly kind: 'compute'; readonly name: string; readonly by: FloatOperation; readonly from: readonly Operand[] }
  | { readonly kind: 'load'; readonly name: string; readonly from: LaneSource; readonly offset: number }
  | { readonly kind: 'sign'; readonly name: string; readonly of: LaneSource }
  | { readonly kind: 'store'; readonly value: string; readonly to: LaneSource; readonly offset: number };

/** The name of a value, or a constant. */
export type Operand = string | Constant;

/** A float that is an integer. */
export interface FloatValue {
  readonly name: string;
  /** Bound of the absolute value. */
  readonly most: number;
}

/** An integer of 64 bits: its value plus a known number, modulo 2^64. */
export interface IntegerValue extends FloatValue {
  readonly plus: bigint;
}

/** Bound of an integer that a float counts in its mantissa, beside 3·2^51. */
const MAX_UNITS = 2 ** 51;

/** The number that makes a column positive before it is split, as a power of two. */
const LIFT_BITS = 60;

/**
 * Bound of a column. Bounds beyond 2^53 are rounded, as they are doubles: a column has fewer than
 * 2^7 terms, and each addition is off by at most 2^8.
 */
const MAX_COLUMN = 2 ** (LIFT_BITS - 1);

const floats = new Map<number, Constant>();

/** Returns a double as a constant. */
const floatConstant = (value: number): Constant => {
  const known = floats.get(value);
  if (known !== undefined) return known;
  const constant = { bits: bitsOf(value) };
  floats.set(value, constant);
  return constant;
};

/** Returns the constants that every product adds: 3·2^(51+width), and that plus 3·2^51. */
export const roundingConstants = ({ width }: FloatField): { readonly high: Constant; readonly both: Constant } => {
  const high = 3 * 2 ** (51 + width);
  return { high: floatConstant(high), both: floatConstant(high + 3 * 2 ** 51) };
};

export class FloatLine {
  readonly statements: FloatStatement[] = [];
  readonly field: FloatField;
  /** The known number of a column that is to be split. */
  readonly lift: bigint;
  /** 2^width, and half of it. */
  readonly #unit: number;
  readonly #half: number;
  readonly #mask: Constant;
  /** 3·2^(51+width): added to a product, it rounds to a multiple of 2^width. */
  readonly #roundHigh: Constant;
  /** 3·2^51: added to an integer of at most 51 bits, it leaves it in the mantissa. */
  readonly #roundLow: Constant;
  /** Their sum. */
  readonly #roundBoth: Constant;
  readonly #mostOfProduct: number;
  readonly #prefix: string;
  #count = 0;

  /** @param prefix of the names of its values, unique among programs that are joined */
  constructor(field: FloatField, prefix = 'v') {
    const { width } = field;
    this.field = field;
    this.#prefix = prefix;
    this.#unit = 2 ** width;
    this.#half = 2 ** (width - 1);
    this.lift = (1n << BigInt(LIFT_BITS)) + (1n << BigInt(width - 1));
    this.#mask = { bits: (1n << BigInt(width)) - 1n };
    const { high, both } = roundingConstants(field);
    this.#roundHigh = high;
    this.#roundLow = floatConstant(3 * 2 ** 51);
    this.#roundBoth = both;
    this.#mostOfProduct = 2 ** (width + 51);
  }

  /** Returns the name of a new value. */
  compute(by: FloatOperation, ...from: readonly Operand[]): string {
    const name = `${this.#prefix}${this.#count++}`;
    this.statements.push({ kind: 'compute', name, by, from });
    return name;
  }

  /** Loads an integer from memory. */
  load(from: LaneSource, offset: number, most: number): FloatValue {
    const name = `${this.#prefix}${this.#count++}`;
    this.statements.push({ kind: 'load', name, from, offset });
    return { name, most };
  }

  /** Returns the sign bits of the addresses: −0 where a lane is to be negated. */
  sign(of: LaneSource): string {
    const name = `${this.#prefix}${this.#count++}`;
    this.statements.push({ kind: 'sign', name, of });
    return name;
  }

  store(to: LaneSource, offset: number, value: FloatValue): void {
    this.statements.push({ kind: 'store', value: value.name, to, offset });
  }

  /** Returns a + b. */
  add(a: FloatValue, b: FloatValue): FloatValue {
    return this.#exact({ name: this.compute('add', a.name, b.name), most: a.most + b.most });
  }

  /** Returns a − b. */
  subtract(a: FloatValue, b: FloatValue): FloatValue {
    return this.#exact({ name: this.compute('sub', a.name, b.name), most: a.most + b.most });
  }

  /** Returns the value with its sign changed where the mask has a sign bit. */
  signed(value: FloatValue, mask: string): FloatValue {
    return { name: this.compute('xor', value.name, mask), most: value.most };
  }

  /** Returns a multiple of the value. */
  times(value: FloatValue, factor: number): FloatValue {
    if (factor === 1) return value;
    const name = this.compute('madd', value.name, floatConstant(factor), floatConstant(0));
    return this.#exact({ name, most: value.most * Math.abs(factor) });
  }

  #exact(value: FloatValue): FloatValue {
    if (value.most > 2 ** 53) throw new RangeError(`'${value.name}' could be rounded`);
    return value;
  }

  /** Returns a·b = low + 2^width·high. @param b a value, or an integer */
  product(a: FloatValue, b: FloatValue | number): { readonly low: IntegerValue; readonly high: IntegerValue } {
    const isNumber = typeof b === 'number';
    const most = a.most * (isNumber ? Math.abs(b) : b.most);
    // the sum with 3·2^(51+width) must keep its exponent
    if (most > this.#mostOfProduct) throw new RangeError(`a product with '${a.name}' could be too large`);
    const factor = isNumber ? floatConstant(b) : b.name;
    const top = this.compute('madd', a.name, factor, this.#roundHigh);
    const rest = this.compute('sub', this.#roundBoth, top);
    return {
      low: {
        name: this.compute('madd', a.name, factor, rest),
        most: Math.min(this.#half, most),
        plus: this.#roundLow.bits,
      },
      high: { name: top, most: most / this.#unit + 0.5, plus: this.#roundHigh.bits },
    };
  }

  /**
   * Returns the digit q of `low`·n0 modulo 2^width, and the multiple of 2^width that `low` + q·p0
   * is, divided by it.
   */
  quotientDigit(low: FloatValue, n0: number, p0: number): { readonly digit: FloatValue; readonly carry: IntegerValue } {
    const sum = this.#half * Math.abs(p0) + low.most;
    if (Math.max(low.most * Math.abs(n0), sum) > this.#mostOfProduct) throw new RangeError('q·p0 could be too large');
    const factor = floatConstant(n0);
    const top = this.compute('madd', low.name, factor, this.#roundHigh);
    const rest = this.compute('sub', this.#roundHigh, top);
    const digit = { name: this.compute('madd', low.name, factor, rest), most: this.#half };
    const exact = this.compute('madd', digit.name, floatConstant(p0), low.name);
    const name = this.compute('add', exact, this.#roundHigh);
    return { digit, carry: { name, most: sum / this.#unit, plus: this.#roundHigh.bits } };
  }

  /** Returns a float as an integer of 64 bits, negated if asked for. */
  toInteger(value: FloatValue, negate = false): IntegerValue {
    if (value.most > MAX_UNITS) throw new RangeError(`'${value.name}' is too long for an addend`);
    const name = this.compute(negate ? 'sub' : 'add', this.#roundLow, value.name);
    return { name, most: value.most, plus: this.#roundLow.bits };
  }

  /** Returns a + b. */
  integerSum(a: IntegerValue, b: IntegerValue): IntegerValue {
    return { name: this.compute('integerAdd', a.name, b.name), most: a.most + b.most, plus: a.plus + b.plus };
  }

  /** Returns the same value with another known number; `constant` is the difference. */
  integerShift(a: IntegerValue, constant: Constant, plus: bigint): IntegerValue {
    return { ...a, name: this.compute('integerAdd', a.name, constant), plus };
  }

  #assertLifted(column: IntegerValue): void {
    if (BigInt.asUintN(64, column.plus) !== this.lift) throw new Error(`'${column.name}' is not lifted`);
    if (column.most > MAX_COLUMN) throw new RangeError(`the column '${column.name}' could overflow`);
  }

  /** Returns the limb of a lifted column: its residue modulo 2^width nearest to 0. */
  limb(column: IntegerValue): FloatValue {
    this.#assertLifted(column);
    const low = this.compute('and', column.name, this.#mask);
    const float = this.compute('or', low, floatConstant(2 ** 52));
    return { name: this.compute('sub', float, floatConstant(2 ** 52 + this.#half)), most: this.#half };
  }

  /** Returns (column − limb) / 2^width of a lifted column. */
  carry(column: IntegerValue): IntegerValue {
    this.#assertLifted(column);
    const plus = 1n << BigInt(LIFT_BITS - this.field.width);
    return { name: this.compute('shift', column.name), most: column.most / this.#unit + 1, plus };
  }

  /** The known number of an integer that becomes a float. */
  get floatPlus(): bigint {
    return this.#roundLow.bits;
  }

  /** Returns an integer as a float. @param most a bound, which the sum of terms cannot see */
  toFloat(value: IntegerValue, most: number): FloatValue {
    if (BigInt.asUintN(64, value.plus) !== this.floatPlus) throw new Error(`'${value.name}' is no float`);
    if (most > MAX_UNITS) throw new RangeError(`'${value.name}' is too long for a float`);
    return { name: this.compute('sub', value.name, this.#roundLow), most };
  }

  /** Returns the integer nearest to value·factor; `most` bounds its absolute value. */
  rounded(value: FloatValue, factor: number, most: number): FloatValue {
    const sum = this.compute('madd', value.name, floatConstant(factor), this.#roundLow);
    return { name: this.compute('sub', sum, this.#roundLow), most };
  }

  /** Returns value·factor as an integer. */
  multiple(value: FloatValue, factor: number): IntegerValue {
    const most = value.most * Math.abs(factor);
    if (most > MAX_UNITS) throw new RangeError(`${value.name}·${factor} is too long`);
    return {
      name: this.compute('madd', value.name, floatConstant(factor), this.#roundLow),
      most,
      plus: this.#roundLow.bits,
    };
  }
}

/* Where two elements, one for each lane, are in memory. */

/** Address of an element in each lane. */
interface LaneAddresses {
  readonly kind: 'lanes';
  readonly lanes: readonly [Address, Address];
}

/** Address of two elements side by side: their limbs alternate. */
interface WideAddress {
  readonly kind: 'wide';
  readonly at: Address;
}

/** Two elements at distances from an address. */
interface PairAddress {
  readonly kind: 'pair';
  readonly at: Address;
  /** Distance of the element of each lane from the address, in bytes. */
  readonly lanes: readonly [number, number];
  /** Limbs of an element are so many limbs apart. */
  readonly stride: 1 | 2;
}

export type LaneSource = LaneAddresses | WideAddress | PairAddress;

export const lanesAt = (first: Address, second: Address): LaneAddresses => ({
  kind: 'lanes',
  lanes: [first, second],
});

export const wideAt = (at: Address): WideAddress => ({ kind: 'wide', at });

export const pairAt = (at: Address, lanes: PairAddress['lanes'], stride: PairAddress['stride']): PairAddress => ({
  kind: 'pair',
  at,
  lanes,
  stride,
});
