/** Functions on elements of vectors, in one form of arithmetic. */

import type { Lanes } from '../arithmetic/lane-code.js';
import type { WasmModule } from '../encoder/module.js';
import type { KernelField } from '../points/element-words.js';

/** Memory of the module while it is generated. */
export interface ModuleMemory {
  /** Reserves `bytes` and returns their address. */
  take(bytes: number): number;
  /** Address of the next reservation. */
  readonly end: number;
  /** Words of 32 bits by address, to be written before anything is computed. */
  readonly constants: ReadonlyMap<number, readonly number[]>;
}

/**
 * Indices of functions. Their parameters are addresses of elements, each once per lane, except for
 * `isZero`, `split` and `join`, which have one lane. All operands are loaded before anything is
 * stored, so a result may overwrite any of them.
 *
 * Butterflies take (x, y, w), or (x, y) where w is 1, and overwrite x and y. Between the passes of
 * one transform elements may be in a wider range than others, so passes follow each other as
 * `dif` (even, odd, even, …), `difLast` and `ditFirst`, `dit`, …, `ditLast`.
 */
export interface VectorFunctions {
  readonly lanes: Lanes;
  readonly field: KernelField;
  /** (to, a, b): a·b. */
  readonly multiply: number;
  /** (to, a, b, c): a·b + c. */
  readonly multiplyAdd: number;
  /** (to, a, b, c): a·b − c. */
  readonly multiplySubtract: number;
  /** (to, a, b): a + b. */
  readonly add: number;
  /** (to, a, b): a − b. */
  readonly subtract: number;
  /** x + y and (x − y)·w, in passes of even and of odd number from the first. */
  readonly dif: readonly [even: number, odd: number];
  /** x + y and x − y, behind all passes of `dif`, or alone. */
  readonly difLast: number;
  /** x + y and x − y, before `dit`. */
  readonly ditFirst: number;
  /** x + y·w and x − y·w. */
  readonly dit: number;
  readonly ditLast: number;
  /** (a): whether an element is 0; one lane. */
  readonly isZero: number;
  /** (to, words): splits a number below p into limbs, as `multiply` takes it for a. */
  readonly split: number;
  /** (words, a): writes an element as the number below p that it is; may overwrite it. */
  readonly join: number;
}

/** A module with the functions of a form. */
export interface VectorModule {
  readonly module: WasmModule;
  readonly functions: VectorFunctions;
  readonly memory: ModuleMemory;
}

/** Begins a module with the functions of a form; null if the form does not have the field. */
export type VectorForm = (p: bigint, wordBytes: number) => VectorModule | null;
