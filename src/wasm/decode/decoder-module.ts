/**
 * WebAssembly module that decodes points of a curve: compressed ones, or those of a twisted Edwards
 * curve.
 */
import { addEnter } from '../arithmetic/enter-numbers.js';
import { KernelMemory, type WasmCurve } from '../arithmetic/kernel-memory.js';
import type { Lanes } from '../arithmetic/lane-code.js';
import { WasmModule } from '../encoder/module.js';
import { addCompressed } from './compressed.js';
import { DecoderParts } from './decoder-parts.js';
import { addEdwards, type EdwardsConstants } from './edwards.js';

/** A curve, and the form of its points that are decoded. */
export interface DecodedCurve extends WasmCurve {
  /** The twisted Edwards form; null for compressed points. */
  readonly edwards: EdwardsConstants | null;
  /** Mark in the place of y for the odd or larger one of y and −y. */
  readonly oddMark: number;
}

/** Functions of the module. */
export interface DecoderExports {
  /** Converts `count` numbers below p, of `wordBytes` each, and multiplies by the one at `unit`. */
  enter(to: number, from: number, count: number): void;
  /**
   * Decodes `count` ≥ 1 points that were entered, and writes their x‖y over their words; some of
   * them if a point is wrong. Zeros are infinity. Behind an odd number of points are zeros.
   *
   * @param byParity 1 if y and −y are told apart by parity, 0 if by size
   * @returns index of the first wrong point; `count` if there is none
   */
  decode(points: number, words: number, count: number, byParity: number): number;
}

/** Layout of the module's memory. */
export interface DecoderLayout {
  readonly points: number;
  readonly words: number;
  /** Address of the constant that `enter` multiplies by. */
  readonly unit: number;
  readonly end: number;
  /** Constants by address, to be written before anything is computed. */
  readonly constants: ReadonlyMap<number, readonly number[]>;
}

/** Points of a list at most; an even number. */
export const MOST_POINTS = 128;

/** Bytes behind the words of a list that `enter` may read. */
const READ_AHEAD = 8;

/** Generates the module of a curve. */
export const decoderModule = (
  curve: DecodedCurve,
  lanes: Lanes,
): { readonly bytes: Uint8Array<ArrayBuffer>; readonly layout: DecoderLayout } => {
  const module = new WasmModule();
  const memory = new KernelMemory(curve, lanes);
  const parts = new DecoderParts(module, curve, lanes, memory);
  const { multiply } = parts.functions;
  addEnter({ module, curve, lanes, memory, elements: { multiplyPrime: multiply }, step: { junk: parts.take() } });
  if (curve.edwards === null) addCompressed(parts, curve.oddMark);
  else addEdwards(parts, curve.edwards, MOST_POINTS);
  const points = memory.take(2 * memory.element * MOST_POINTS);
  const words = memory.take((2 * memory.element * curve.wordBytes * MOST_POINTS) / curve.field.bytes + READ_AHEAD);
  const { constants, end, unit } = memory;
  return { bytes: module.bytes(), layout: { points, words, unit, end, constants } };
};
