/**
 * Functions on elements of a prime field in memory, in one lane or two. A formula is made into a
 * straight-line program, and the program into WebAssembly.
 */
import { digitsOf } from '../../field/modulus.js';
import {
  type Limbs,
  type Operand as ProgramOperand,
  range,
  type Statement,
  type Term,
} from '../../field/straight-line.js';
import type { Code, Local } from '../encoder/code.js';
import type { WasmModule } from '../encoder/module.js';
import { type Addend, type Operand, productProgram, sumProgram, type WasmField } from './field-programs.js';

/**
 * Operand of a formula, by names of parameters: ±`of`, or ±`of` ∓ `less`. A sign is the address of
 * a mask, which is 0 or −1.
 */
export interface Expression {
  readonly of: string;
  readonly sign?: string;
  readonly less?: string;
  readonly lessSign?: string;
  /** Kind of `of` if it is not an element: a difference that an earlier formula kept. */
  readonly as?: Operand;
}

const kindOf = ({ sign, less, lessSign, as }: Expression): Operand => {
  if (as !== undefined) return as;
  if (sign !== undefined || lessSign !== undefined) return 'signed';
  return less === undefined ? 'element' : 'difference';
};

/** A product plus a sum of multiples. */
export interface Formula {
  /** Names of the function's addresses; the first is that of the result. */
  readonly parameters: readonly string[];
  /** Two factors, one that is squared, or none. */
  readonly factors?: readonly Expression[];
  /** Addends and their integer coefficients. */
  readonly plus?: readonly (readonly [Expression, number])[];
  /** Parameter with the address where the last factor is stored, as it was multiplied. */
  readonly keeps?: string;
}

/** (to, a, b): a·b. */
export const plainProduct: Formula = {
  parameters: ['to', 'a', 'b'],
  factors: [{ of: 'a' }, { of: 'b' }],
};

/** Returns the formula of a sum of multiples: (to, and the names of the coefficients). */
export const sumFormula = (coefficients: Readonly<Record<string, number>>): Formula => ({
  parameters: ['to', ...Object.keys(coefficients)],
  plus: Object.entries(coefficients).map(([of, times]) => [{ of }, times] as const),
});

/** Prefixes of the names of limbs in a program, by factor. */
const FACTORS = ['a', 'b'] as const;

/** Loads the operands of a formula into locals. */
class OperandLoader {
  readonly #writer: LaneCode;
  readonly #parameters: readonly string[];
  readonly #masks = new Map<string, Local>();
  /** Local of each limb, by its name in the program. */
  readonly inputs = new Map<string, Local>();

  constructor(writer: LaneCode, parameters: readonly string[]) {
    this.#writer = writer;
    this.#parameters = parameters;
  }

  /** Returns the addresses of a parameter in all lanes. */
  addresses(name: string): LaneAddresses {
    const { code, lanes } = this.#writer;
    return range(lanes).map((lane) => code.parameter(this.#parameters.indexOf(name) * lanes + lane));
  }

  #mask(name: string): Local {
    const known = this.#masks.get(name);
    if (known !== undefined) return known;
    const writer = this.#writer;
    const mask = writer.code.local(writer.type);
    writer.load(this.addresses(name), 0);
    writer.code.set(mask);
    this.#masks.set(name, mask);
    return mask;
  }

  #loadOne(name: string, sign: string | undefined, offset: number): void {
    const mask = sign === undefined ? null : this.#mask(sign);
    this.#writer.load(this.addresses(name), offset);
    if (mask !== null) this.#writer.negateBy(mask);
  }

  /** Loads all limbs of an operand, as `prefix0` …. */
  load(prefix: string, { of, sign, less, lessSign }: Expression, limbs: number): void {
    const writer = this.#writer;
    for (const i of range(limbs)) {
      const limb = writer.code.local(writer.type);
      this.#loadOne(of, sign, 4 * i);
      if (less !== undefined) {
        this.#loadOne(less, lessSign, 4 * i);
        writer.subtract();
      }
      writer.code.set(limb);
      this.inputs.set(`${prefix}${i}`, limb);
    }
  }
}

/**
 * Adds the function of a formula. Each of its parameters is one address per lane.
 *
 * @returns its index in the module
 */
export const addFormula = (module: WasmModule, f: WasmField, lanes: Lanes, formula: Formula): number => {
  const { parameters, factors = [], plus = [], keeps } = formula;
  const count = parameters.length * lanes;
  return module.add(null, { parameters: range(count).map(() => 'i32' as const) }, (code) => {
    const writer = new LaneCode(code, lanes);
    const operands = new OperandLoader(writer, parameters);
    for (const [i, factor] of factors.entries()) operands.load(FACTORS[i] as string, factor, f.limbs);
    for (const [i, [addend]] of plus.entries()) operands.load(`z${i}_`, addend, f.limbs);
    const addends = plus.map(([expression, times]): Addend => ({ operand: kindOf(expression), times }));
    const program = factors.length === 0 ? sumProgram(f, addends) : productProgram(f, factors.map(kindOf), addends);
    const result = writeProgram(writer, program, operands.inputs);
    const to = operands.addresses(parameters[0] as string);
    for (const [i, limb] of result.entries()) writer.store(to, 4 * i, limb);
    if (keeps === undefined) return;
    const kept = FACTORS[factors.length - 1] as string;
    for (const i of range(f.limbs)) {
      writer.storeNarrow(operands.addresses(keeps), 4 * i, operands.inputs.get(`${kept}${i}`) as Local);
    }
  });
};

/**
 * Adds a function i32 → i32 that returns whether the element at an address is 0. Zero is stored as
 * 0 or as p, the only multiples of p within a quarter of p of [0, p].
 */
export const addIsZero = (module: WasmModule, f: WasmField): number =>
  module.add(null, { parameters: ['i32'], result: 'i32' }, (code, at) => {
    const isEqualTo = (limbs: readonly number[]): void => {
      for (const [i, limb] of limbs.entries()) {
        code.get(at).at('i32.load', 4 * i);
        code.i32(limb).do('i32.xor');
        if (i > 0) code.do('i32.or');
      }
      code.do('i32.eqz');
    };
    isEqualTo(range(f.limbs).map(() => 0));
    isEqualTo(digitsOf(f.p, f.width, f.limbs));
    code.do('i32.or');
  });

/* Straight-line programs as WebAssembly, in one lane (i64) or two (i64x2). */

/** Indices of a shuffle that puts the low halves of both lanes where `LaneCode.load` has them. */
const HALVES = [0, 1, 2, 3, 8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11];

/** Value of a program in a local. */
interface ProgramValue {
  readonly local: Local;
  /** With two lanes: true if the values are the two lowest of four i32; else they are i64. */
  readonly isNarrow: boolean;
}

class ProgramWriter {
  readonly #writer: LaneCode;
  readonly #width: number;
  readonly #values: Map<string, ProgramValue>;
  /** Values of two i64 that were narrowed, by name. */
  readonly #narrowed = new Map<string, Local>();

  constructor(writer: LaneCode, width: number, inputs: ReadonlyMap<string, Local>) {
    this.#writer = writer;
    this.#width = width;
    this.#values = new Map([...inputs].map(([name, local]) => [name, { local, isNarrow: true }]));
  }

  valueOf(name: string): ProgramValue {
    return this.#values.get(name) as ProgramValue;
  }

  get #hasOneLane(): boolean {
    return this.#writer.lanes === 1;
  }

  #constant(value: number): void {
    const { code } = this.#writer;
    const low = BigInt.asUintN(32, BigInt(value));
    if (this.#hasOneLane) code.i64(value);
    else code.i64x2(low | (low << 32n));
  }

  /** Leaves a factor; with two lanes in the two lowest of four i32. */
  #factor(operand: ProgramOperand): void {
    if (typeof operand === 'number') {
      this.#constant(operand);
      return;
    }
    const { code, type } = this.#writer;
    const { local, isNarrow } = this.valueOf(operand);
    const known = this.#hasOneLane || isNarrow ? local : this.#narrowed.get(operand);
    if (known !== undefined) {
      code.get(known);
      return;
    }
    const low = code.local(type);
    this.#narrowed.set(operand, low);
    code.get(local).get(local).shuffle(HALVES).tee(low);
  }

  /** Returns whether a term is ± a value that needs no multiplication. */
  #isPlain([x, y]: Term): boolean {
    if (typeof x !== 'string' || (y !== 1 && y !== -1)) return false;
    return this.#hasOneLane || !this.valueOf(x).isNarrow;
  }

  /** Leaves the absolute value of a plain term, or another term. @returns how to accumulate it */
  #term(term: Term): 'add' | 'sub' {
    const { code } = this.#writer;
    const [x, y] = term;
    if (this.#isPlain(term)) {
      code.get(this.valueOf(x as string).local);
      return y === 1 ? 'add' : 'sub';
    }
    this.#factor(x);
    this.#factor(y);
    code.do(this.#hasOneLane ? 'i64.mul' : 'i64x2.extmul_low_i32x4_s');
    return 'add';
  }

  #sum(given: readonly Term[]): void {
    const { code } = this.#writer;
    // negative terms last: a subtraction needs what it subtracts from
    const terms = [...given].sort((a, b) => Number(a[1] === -1) - Number(b[1] === -1));
    const [first] = terms;
    if (first === undefined || (this.#isPlain(first) && first[1] === -1)) {
      if (this.#hasOneLane) code.i64(0);
      else code.i64x2(0);
    }
    for (const [i, term] of terms.entries()) {
      const how = this.#term(term);
      if (i > 0 || how === 'sub') code.do(this.#hasOneLane ? `i64.${how}` : `i64x2.${how}`);
    }
  }

  #floor(of: string): void {
    const { code } = this.#writer;
    code.get(this.valueOf(of).local);
    if (this.#hasOneLane) code.i64(this.#width).do('i64.shr_s');
    else code.i32(this.#width).do('i64x2.shr_s');
  }

  #mask(of: string): void {
    const { code } = this.#writer;
    const mask = 2 ** this.#width - 1;
    code.get(this.valueOf(of).local);
    if (this.#hasOneLane) code.i64(mask).do('i64.and');
    else code.i64x2(mask).do('v128.and');
  }

  /** Writes a statement, and sets a local to its value. */
  write(statement: Statement): void {
    if (statement.kind === 'sum') this.#sum(statement.terms);
    else if (statement.kind === 'mask') this.#mask(statement.of);
    else this.#floor(statement.of);
    const { code, type } = this.#writer;
    const local = code.local(type);
    code.set(local);
    this.#values.set(statement.name, { local, isNarrow: false });
  }
}

/**
 * Writes a program.
 *
 * @param inputs locals of its inputs, in the format of `LaneCode.load`
 * @returns locals of the limbs of its result
 */
const writeProgram = (writer: LaneCode, { program, result }: Limbs, inputs: ReadonlyMap<string, Local>): Local[] => {
  const values = new ProgramWriter(writer, program.width, inputs);
  for (const statement of program.statements) values.write(statement);
  return result.map((name) => values.valueOf(name).local);
};

/*
 * Loads and stores of limbs in one lane (i64) or two (i64x2). A CPU with SIMD of 128 bits
 * multiplies two pairs of 32 bits in about the time of one pair of 64
 * (docs/reference/performance.md).
 */

/** Number of additions that are computed side by side. */
export type Lanes = 1 | 2;

/** The address of a value in each lane. */
type LaneAddresses = readonly Local[];

/** Writes code that loads, stores and negates limbs. */
class LaneCode {
  readonly code: Code;
  readonly lanes: Lanes;

  constructor(code: Code, lanes: Lanes) {
    this.code = code;
    this.lanes = lanes;
  }

  get type(): 'i64' | 'v128' {
    return this.lanes === 1 ? 'i64' : 'v128';
  }

  /**
   * Leaves 32 bits from memory: sign-extended in one lane; in two lanes those of both, as the two
   * lowest of four.
   */
  load(from: LaneAddresses, offset: number): void {
    const { code } = this;
    const [first, second] = from as [Local, Local];
    if (this.lanes === 1) {
      code.get(first).at('i64.load32_s', offset);
      return;
    }
    code.get(second).get(first).at('v128.load32_zero', offset).laneAt('v128.load32_lane', offset, 1);
  }

  /** Stores the lower 32 bits of an i64, or of each lane of an i64x2. */
  store(to: LaneAddresses, offset: number, value: Local): void {
    const { code } = this;
    for (const [lane, address] of to.entries()) {
      code.get(address).get(value);
      if (this.lanes === 1) code.at('i64.store32', offset);
      else code.laneAt('v128.store32_lane', offset, 2 * lane);
    }
  }

  /** Stores a value in the format of `load`, or a difference of two such values. */
  storeNarrow(to: LaneAddresses, offset: number, value: Local): void {
    const { code } = this;
    for (const [lane, address] of to.entries()) {
      code.get(address).get(value);
      if (this.lanes === 1) code.at('i64.store32', offset);
      else code.laneAt('v128.store32_lane', offset, lane);
    }
  }

  /** Subtracts two values in the format of `load`. */
  subtract(): void {
    this.code.do(this.lanes === 1 ? 'i64.sub' : 'i32x4.sub');
  }

  /** Negates the value on the stack in the lanes where the mask is −1. */
  negateBy(mask: Local): void {
    const { code } = this;
    code.get(mask).do(this.lanes === 1 ? 'i64.xor' : 'v128.xor');
    code.get(mask);
    this.subtract();
  }
}
