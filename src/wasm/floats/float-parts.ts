/** Values that the functions of a kernel on floats share while they are written. */

import { range } from '../../field/straight-line.js';
import { type Address, callWith, pushAddress } from '../arithmetic/addresses.js';
import type { Code, Local } from '../encoder/code.js';
import type { WasmModule } from '../encoder/module.js';
import type { FloatFunctions } from './float-functions.js';
import type { FloatMemory } from './float-memory.js';
import type { PointPrograms } from './point-programs.js';

export interface FloatParts {
  readonly module: WasmModule;
  readonly memory: FloatMemory;
  readonly programs: PointPrograms;
  readonly functions: FloatFunctions;
  /** Addresses of coordinates: 0 and 1. */
  readonly zero: number;
  readonly one: number;
}

/** Bytes of an addition in a list: the addresses of the result, of P and of Q. */
export const LIST_ITEM = 12;

/**
 * Items behind a list that may be overwritten: one makes the number of items even, and two are
 * additions that a pass computes before those of the list.
 */
export const PADDING = 3;

/** Calls a function with addresses. */
export const call = (code: Code, index: number, ...addresses: readonly Address[]): void =>
  callWith(code, index, addresses);

/** Leaves whether `numbers` consecutive floats are all 0. */
export const areZero = (code: Code, at: Address, numbers: number): void => {
  for (const i of range(numbers)) {
    pushAddress(code, at);
    code
      .at('f64.load', 8 * i)
      .f64(0)
      .do('f64.ne');
    if (i > 0) code.do('i32.or');
  }
  code.do('i32.eqz');
};

/** Copies floats, `stride` apart. */
export const copyFloats = (
  code: Code,
  to: readonly [Address, offset: number, stride: number],
  from: readonly [Address, offset: number, stride: number],
  count: number,
): void => {
  for (const i of range(count)) {
    pushAddress(code, to[0]);
    pushAddress(code, from[0]);
    code.at('f64.load', from[1] + i * from[2]).at('f64.store', to[1] + i * to[2]);
  }
};

/** Adds `bytes` to an address. */
export const step = (code: Code, address: Local, bytes: number): void => {
  code.get(address).i32(bytes).do('i32.add').set(address);
};
