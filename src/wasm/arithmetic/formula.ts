/** Functions on elements of a prime field in memory, in one lane or two. */
import { digitsOf } from '../../field/modulus.js';
import { range } from '../../field/straight-line.js';
import type { Local } from '../encoder/code.js';
import type { WasmModule } from '../encoder/module.js';
import { type Addend, type Operand, productProgram, sumProgram, type WasmField } from './field-programs.js';
import { type LaneAddresses, LaneCode, type Lanes } from './lane-code.js';
import { writeProgram } from './program-code.js';

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

/** (to, a, b): a + times·b. */
export const sumFormula = (times: 1 | -1 | -2): Formula => ({
  parameters: ['to', 'a', 'b'],
  plus: [
    [{ of: 'a' }, 1],
    [{ of: 'b' }, times],
  ],
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
 * @param name exported name; null if it is not exported
 * @returns its index in the module
 */
export const addFormula = (
  module: WasmModule,
  f: WasmField,
  lanes: Lanes,
  formula: Formula,
  name: string | null = null,
): number => {
  const { parameters, factors = [], plus = [], keeps } = formula;
  const count = parameters.length * lanes;
  return module.add(name, { parameters: range(count).map(() => 'i32' as const) }, (code) => {
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
  module.add(null, { parameters: ['i32'], result: 'i32' }, (code) => {
    const at = code.parameter(0);
    const isEqualTo = (limbs: readonly number[]): void => {
      for (const [i, limb] of limbs.entries()) {
        code
          .get(at)
          .at('i32.load', 4 * i)
          .i32(limb)
          .do('i32.xor');
        if (i > 0) code.do('i32.or');
      }
      code.do('i32.eqz');
    };
    isEqualTo(range(f.limbs).map(() => 0));
    isEqualTo(digitsOf(f.p, f.width, f.limbs));
    code.do('i32.or');
  });
