/** Values that the functions of a kernel share while they are written. */
import { range } from '../../field/straight-line.js';
import type { Code, Local } from '../encoder/code.js';
import type { WasmModule } from '../encoder/module.js';
import { type Address, callWith, pushAddress } from './addresses.js';
import type { Elements } from './elements.js';
import type { FieldFormat } from './field-programs.js';
import type { KernelMemory, StepMemory, WasmCurve } from './kernel-memory.js';
import type { Lanes } from './lane-code.js';

export interface KernelParts {
  readonly module: WasmModule;
  readonly curve: WasmCurve<FieldFormat>;
  readonly lanes: Lanes;
  readonly elements: Elements;
  readonly memory: KernelMemory;
  /** Addresses of coordinates for temporary values of one lane. */
  readonly temporary: { readonly difference: number; readonly left: number; readonly right: number };
  readonly step: StepMemory;
}

/** Calls a function with addresses of one lane. */
export const call = (code: Code, index: number, ...addresses: readonly Address[]): void =>
  callWith(code, index, addresses);

/** Leaves whether the point at an address is infinity, which is zeros. */
export const isInfinity = (code: Code, point: Local, element: number): void => {
  for (const i of range((2 * element) / 4)) {
    code.get(point).at('i32.load', 4 * i);
    if (i > 0) code.do('i32.or');
  }
  code.do('i32.eqz');
};

/** Copies a coordinate. */
export const copyElement = (code: Code, to: Address, from: Address, element: number): void => {
  for (const i of range(element / 4)) {
    pushAddress(code, to);
    pushAddress(code, from);
    code.at('i32.load', 4 * i).at('i32.store', 4 * i);
  }
};
