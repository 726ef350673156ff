/** The forms of arithmetic in which WebAssembly computes on vectors of a prime field. */
import { range } from '../../field/straight-line.js';
import { type KernelField, wordsOfElement } from '../points/element-words.js';
import type { WasmArithmetic } from '../points/kernel.js';
import { floatVectors } from './float-vectors.js';
import { integerVectors } from './integer-vectors.js';
import type { VectorForm } from './vector-functions.js';
import { addVectorLoops } from './vector-loops.js';
import { wordsVectors } from './words-vectors.js';

/** A generated module, and the layout of its memory. */
export interface VectorKernel {
  readonly arithmetic: WasmArithmetic;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly field: KernelField;
  /** Bytes of a number in the public format. */
  readonly wordBytes: number;
  /** Addresses of the factors of `enter` and `leave`. */
  readonly unitIn: number;
  readonly unitOut: number;
  /** The caller may use everything from here on. */
  readonly end: number;
  /** Words of 32 bits by address, to be written before anything is computed. */
  readonly constants: ReadonlyMap<number, readonly number[]>;
}

const forms: Readonly<Record<WasmArithmetic, VectorForm>> = {
  'wasm-fma': floatVectors,
  'wasm-wide': wordsVectors,
  'wasm-simd': integerVectors(2),
  wasm: integerVectors(1),
};

/** Returns bytes of a number in the public format: whole words of 32 bits. */
const wordBytesOf = (p: bigint): number => 4 * Math.ceil(p.toString(2).length / 32);

/** Generates the module of a prime field; null if the arithmetic does not have it. */
export const vectorKernel = (p: bigint, arithmetic: WasmArithmetic): VectorKernel | null => {
  const wordBytes = wordBytesOf(p);
  const made = forms[arithmetic](p, wordBytes);
  if (made === null) return null;
  const { module, functions, memory } = made;
  const { field } = functions;
  const [unitIn, unitOut] = [memory.take(field.bytes), memory.take(field.bytes)];
  const temporary = range(functions.lanes).map(() => memory.take(field.bytes));
  addVectorLoops({ module, functions, wordBytes, unitIn, unitOut, temporary });
  const constants = new Map(memory.constants);
  constants.set(unitIn, wordsOfElement(field, 0n));
  return { arithmetic, bytes: module.bytes(), field, wordBytes, unitIn, unitOut, end: memory.end, constants };
};
