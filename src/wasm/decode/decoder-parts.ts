/** Values that the functions of a decoder share while they are written. */
import { range } from '../../field/straight-line.js';
import type { WasmField } from '../arithmetic/field-programs.js';
import { addFormula, addIsZero, type Formula, type Lanes, plainProduct, sumFormula } from '../arithmetic/formula.js';
import type { KernelMemory, WasmCurve } from '../arithmetic/kernel-memory.js';
import { type Address, addressPlus, type Code, callWith } from '../encoder/code.js';
import type { WasmModule } from '../encoder/module.js';

/** A number of the prime field in each lane: their addresses. */
export type Numbers = readonly Address[];

const square: Formula = { parameters: ['to', 'a'], factors: [{ of: 'a' }] };

/** Indices of functions of the prime field. All but the last take each parameter once per lane. */
interface PrimeFunctions {
  /** (to, a, b): a·b. */
  readonly multiply: number;
  /** (to, a): a². */
  readonly square: number;
  /** (to, a, b): a + b. */
  readonly add: number;
  /** (to, a, b): a − b. */
  readonly subtract: number;
  /** (a): whether a reduced number is 0. */
  readonly isZero: number;
}

export class DecoderParts {
  readonly module: WasmModule;
  readonly curve: WasmCurve;
  readonly field: WasmField;
  readonly lanes: Lanes;
  readonly memory: KernelMemory;
  readonly functions: PrimeFunctions;

  constructor(module: WasmModule, curve: WasmCurve, lanes: Lanes, memory: KernelMemory) {
    this.module = module;
    this.curve = curve;
    this.field = curve.field;
    this.lanes = lanes;
    this.memory = memory;
    const add = (formula: Formula): number => addFormula(module, curve.field, lanes, formula);
    this.functions = {
      multiply: add(plainProduct),
      square: add(square),
      add: add(sumFormula(1)),
      subtract: add(sumFormula(-1)),
      isZero: addIsZero(module, curve.field),
    };
  }

  /** Reserves `count` consecutive numbers in each lane. */
  take(count = 1): number[] {
    return range(this.lanes).map(() => this.memory.take(count * this.field.bytes));
  }

  /** Returns the address of a number that all lanes share. */
  shared(at: Address): Numbers {
    return range(this.lanes).map(() => at);
  }

  /** Returns a constant, in Montgomery form. */
  constant(value: bigint): Numbers {
    return this.shared(this.memory.montgomery(value));
  }

  call(code: Code, name: keyof PrimeFunctions, ...numbers: readonly Numbers[]): void {
    callWith(code, this.functions[name], numbers.flat());
  }

  /** Leaves whether the number in one lane is 0. */
  isZero(code: Code, at: Address): void {
    callWith(code, this.functions.isZero, [at]);
  }
}

/** Returns the addresses `bytes` further on. */
export const numbersPlus = (numbers: Numbers, bytes: number): Numbers =>
  numbers.map((address) => addressPlus(address, bytes));
