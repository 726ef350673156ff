/** Functions on coordinates of points that additions are made of. */
import { digitsOf, mod } from '../../field/modulus.js';
import type { WasmModule } from '../encoder/module.js';
import { callWith } from './addresses.js';
import type { WasmField } from './field-programs.js';
import { addFormula, addIsZero, type Formula } from './formula.js';
import { addInverse } from './inverse.js';
import type { Lanes } from './lane-code.js';

/** Memory of the module while it is generated, and constants that are in it from the beginning. */
export interface ElementMemory {
  /** Reserves `bytes` and returns their address. */
  take(bytes: number): number;
  /** Reserves memory for words that are there from the beginning. */
  words(values: readonly number[]): number;
  /** Address of a mask that keeps the sign. `minus` is the word after it. */
  readonly plus: number;
  /** Address of a mask that negates. */
  readonly minus: number;
}

/**
 * Indices of functions, whose parameters are addresses. A sign is the address of a mask. Functions
 * of the first group take each parameter once per lane; functions of the second group take it once.
 */
export interface Elements {
  /** (to, a, b): a·b. */
  readonly multiply: number;
  /** (to, a, b): a·b of numbers of the prime field. */
  readonly multiplyPrime: number;
  /** (to, a, b): a·b, where b is a difference that `chain` kept. */
  readonly multiplyByKept: number;
  /** (to, kept, a, b, c): a·(b − c) to `to`, and b − c to `kept`. */
  readonly chain: number;
  /** (to, a, b, sign, c, sign): a·(±b ∓ c). */
  readonly slope: number;
  /** (to, slope, x1, x2): slope² − x1 − x2. */
  readonly abscissa: number;
  /** (to, slope, x1, x3, y1, sign): slope·(x1 − x3) ∓ y1. */
  readonly ordinate: number;

  /** (to, a, b): a·b. */
  readonly multiplyOne: number;
  /** (to, a, sign): ±a. */
  readonly signedOne: number;
  /** (to, a, b, sign): a ∓ b. */
  readonly subtractOne: number;
  /** (a): whether a reduced element is 0. */
  readonly isZero: number;
  /** (to, a): 1/a of an element that is not 0. */
  readonly invert: number;
}

/** Adds functions of the prime field to a module, in one form of its elements. */
export interface FieldFunctions {
  /** Bytes of an element. */
  readonly bytes: number;
  /** Adds the function of a formula. Each of its parameters is one address per lane. */
  formula(lanes: Lanes, formula: Formula): number;
  /** Adds (a): whether a is 0. */
  isZero(): number;
  /** Adds (to, a): 1/a of an element that is not 0. @param signed index of ±a */
  inverse(memory: ElementMemory, signed: number): number;
}

/** ±a. */
export const signedFormula: Formula = { parameters: ['to', 'a', 's'], plus: [[{ of: 'a', sign: 's' }, 1]] };

/** a ∓ b. */
export const subtractFormula: Formula = {
  parameters: ['to', 'a', 'b', 's'],
  plus: [
    [{ of: 'a' }, 1],
    [{ of: 'b', sign: 's' }, -1],
  ],
};

/** Functions on elements of signed limbs. */
export const integerFunctions = (module: WasmModule, f: WasmField): FieldFunctions => ({
  bytes: f.bytes,
  formula: (lanes, formula) => addFormula(module, f, lanes, formula),
  isZero: () => addIsZero(module, f),
  inverse: (memory, signed) => {
    const start = memory.words(digitsOf(mod(f.r * f.r, f.p), f.width, f.limbs));
    const own = { start, work: memory.take(f.bytes), sign: memory.take(4) };
    return addInverse(module, f, own, (code, ...addresses) => callWith(code, signed, addresses));
  },
});
