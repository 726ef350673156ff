/** CPU reference of straight-line programs on floats: one lane, with exact products. */
import type { Constant, FloatStatement, FloatValue, IntegerValue, Operand } from '../../src/wasm/floats/float-line.js';

const view = new DataView(new ArrayBuffer(8));

/** Returns the double with these bits. */
export const doubleOf = (bits: bigint): number => {
  view.setBigUint64(0, bits);
  return view.getFloat64(0);
};

/** Returns the bits of a double. */
export const bitsOfDouble = (value: number): bigint => {
  view.setFloat64(0, value);
  return view.getBigUint64(0);
};

/** Fractions are counted in units of 2^-FRACTION. */
const FRACTION = 320;

/** Returns value·2^FRACTION. */
const scaled = (value: number): bigint => {
  if (Number.isInteger(value)) return BigInt(value) << BigInt(FRACTION);
  const integer = value * 2 ** FRACTION;
  if (!Number.isInteger(integer)) throw new RangeError(`${value} is too small a fraction, or no number`);
  return BigInt(integer);
};

/** Returns a·b + c, rounded once to nearest, ties to even. The sign of a sum of 0 is lost. */
export const fusedMultiplyAdd = (a: number, b: number, c: number): number => {
  // the conversion of a BigInt to a number rounds like that
  if ([a, b, c].every(Number.isInteger)) return Number(BigInt(a) * BigInt(b) + BigInt(c));
  const sum = scaled(a) * scaled(b) + (scaled(c) << BigInt(FRACTION));
  return Number(sum) * 2 ** -FRACTION * 2 ** -FRACTION;
};

/** Values of a program by name: 64 bits, or the double that they are. */
export class FloatValues {
  readonly #values = new Map<string, number | bigint>();
  readonly #width: number;

  /** @param width bits of a limb */
  constructor(width: number) {
    this.#width = width;
  }

  set(name: string, value: number | bigint): void {
    this.#values.set(name, value);
  }

  #value(operand: Operand): number | bigint {
    if (typeof operand !== 'string') return operand.bits;
    const value = this.#values.get(operand);
    if (value === undefined) throw new Error(`'${operand}' has no value`);
    return value;
  }

  double(operand: Operand): number {
    const value = this.#value(operand);
    return typeof value === 'number' ? value : doubleOf(value);
  }

  bits(operand: Operand): bigint {
    const value = this.#value(operand);
    return typeof value === 'number' ? bitsOfDouble(value) : value;
  }

  /** Returns a float as the integer that it is. @throws RangeError if it is none, or too large */
  integerOf({ name, most }: FloatValue): bigint {
    const value = this.double(name);
    if (!Number.isInteger(value)) throw new RangeError(`'${name}' is ${value}, no integer`);
    if (Math.abs(value) > most) throw new RangeError(`'${name}' is ${value}, which is more than ${most}`);
    return BigInt(value);
  }

  /**
   * Returns what an integer of 64 bits is without its known number.
   *
   * @throws RangeError if it is too large
   */
  known({ name, most, plus }: IntegerValue): bigint {
    const value = BigInt.asIntN(64, this.bits(name) - plus);
    // bounds beyond 2^53 are sums of fewer than 2^7 doubles, each rounded by at most 2^8
    const slack = most > 2 ** 53 ? 2 ** 15 : 0;
    if (value > most + slack || -value > most + slack)
      throw new RangeError(`'${name}' is ${value}, which is more than ${most}`);
    return value;
  }

  /** Runs statements; loads and signs are inputs, and have been set. */
  run(statements: readonly FloatStatement[]): void {
    for (const statement of statements)
      if (statement.kind === 'compute') this.#values.set(statement.name, this.#compute(statement.by, statement.from));
  }

  #compute(by: (FloatStatement & { kind: 'compute' })['by'], from: readonly Operand[]): number | bigint {
    const [a, b, c] = from as [Operand, Operand | Constant, Operand | Constant];
    switch (by) {
      case 'madd':
        return fusedMultiplyAdd(this.double(a), this.double(b), this.double(c));
      case 'add':
        return this.double(a) + this.double(b);
      case 'sub':
        return this.double(a) - this.double(b);
      case 'integerAdd':
        return BigInt.asUintN(64, this.bits(a) + this.bits(b));
      case 'and':
        return this.bits(a) & this.bits(b);
      case 'or':
        return this.bits(a) | this.bits(b);
      case 'xor':
        return this.bits(a) ^ this.bits(b);
      case 'shift':
        return this.bits(a) >> BigInt(this.#width);
    }
  }
}
