/** Writes functions on pairs c0 + c1·u, c0 first, in one lane or two. */
import { range } from '../../field/straight-line.js';
import type { Code, Local } from '../encoder/code.js';
import type { WasmModule } from '../encoder/module.js';
import { type Address, addressPlus, callWith } from './addresses.js';
import type { ElementMemory, FieldFunctions } from './elements.js';
import type { Formula } from './formula.js';
import type { Lanes } from './lane-code.js';

/** An argument: its address in each lane. */
export type Argument = readonly Address[];

/** A sign, which is the same for c0 and c1. */
export interface SignArgument {
  readonly sign: Argument;
}

/** Body of one function. */
export class PairCode {
  readonly #code: Code;
  readonly #bytes: number;

  /** @param bytes of c0 */
  constructor(code: Code, bytes: number) {
    this.#code = code;
    this.#bytes = bytes;
  }

  call(index: number, ...args: readonly Argument[]): void {
    callWith(this.#code, index, args.flat());
  }

  /** Returns the addresses of c0, or of c1. */
  half(argument: Argument, c: 0 | 1): Argument {
    return argument.map((address) => addressPlus(address, c * this.#bytes));
  }

  /** Calls a function of the prime field with c0 of each argument, then with c1. */
  both(index: number, ...args: readonly (Argument | SignArgument)[]): void {
    for (const c of [0, 1] as const) {
      this.call(index, ...args.map((arg) => ('sign' in arg ? arg.sign : this.half(arg, c))));
    }
  }
}

/** Defines functions on pairs, in one lane or two. */
export class PairFunctions {
  readonly #module: WasmModule;
  readonly #functions: FieldFunctions;
  readonly #memory: ElementMemory;
  readonly #lanes: Lanes;

  constructor(module: WasmModule, functions: FieldFunctions, lanes: Lanes, memory: ElementMemory) {
    this.#module = module;
    this.#functions = functions;
    this.#memory = memory;
    this.#lanes = lanes;
  }

  /** Reserves one pair per lane. */
  scratch(): number[] {
    return range(this.#lanes).map(() => this.#memory.take(2 * this.#functions.bytes));
  }

  /** Returns an address once per lane. */
  same(address: number): number[] {
    return range(this.#lanes).map(() => address);
  }

  /** Adds a function of the prime field. */
  prime(formula: Formula): number {
    return this.#functions.formula(this.#lanes, formula);
  }

  /** Adds a function of `parameters` parameters, each once per lane. */
  define<Names extends readonly Local[][]>(
    parameters: Names['length'],
    write: (code: PairCode, ...parameters: Names) => void,
  ): number {
    const lanes = range(this.#lanes);
    const types = range(parameters * lanes.length).map(() => 'i32' as const);
    return this.#module.add(null, { parameters: types }, (code) => {
      const locals = range(parameters).map((i) => lanes.map((lane) => code.parameter(i * lanes.length + lane)));
      write(new PairCode(code, this.#functions.bytes), ...(locals as unknown as Names));
    });
  }
}
