/** Functions on coordinates of points that additions are made of. */
import type { WasmModule } from '../encoder/module.js';
import { callWith } from './addresses.js';
import type { WasmField } from './field-programs.js';
import { addFormula, plainProduct } from './formula.js';
import { addInverse } from './inverse.js';
import type { Lanes } from './lane-code.js';

/** Memory of the module while it is generated, and constants that are in it from the beginning. */
export interface ElementMemory {
  /** Reserves `bytes` and returns their address. */
  take(bytes: number): number;
  /** Address of a mask that keeps the sign. `minus` is the word after it. */
  readonly plus: number;
  /** Address of a mask that negates. */
  readonly minus: number;
  /** Address of R² mod p, a number of the prime field. */
  readonly start: number;
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

/** Adds ±a of the prime field. */
export const addSigned = (module: WasmModule, f: WasmField): number =>
  addFormula(module, f, 1, { parameters: ['to', 'a', 's'], plus: [[{ of: 'a', sign: 's' }, 1]] });

/** Adds a ∓ b of the prime field. */
export const addSubtract = (module: WasmModule, f: WasmField): number =>
  addFormula(module, f, 1, {
    parameters: ['to', 'a', 'b', 's'],
    plus: [
      [{ of: 'a' }, 1],
      [{ of: 'b', sign: 's' }, -1],
    ],
  });

/** Adds a·b of the prime field. */
export const addProduct = (module: WasmModule, f: WasmField, lanes: Lanes): number =>
  addFormula(module, f, lanes, plainProduct);

/** Adds 1/a of the prime field. @param signed index of ±a */
export const addPrimeInverse = (module: WasmModule, f: WasmField, memory: ElementMemory, signed: number): number => {
  const own = { start: memory.start, work: memory.take(f.bytes), sign: memory.take(4) };
  return addInverse(module, f, own, (code, ...addresses) => callWith(code, signed, addresses));
};
