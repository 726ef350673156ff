/**
 * WebAssembly that decodes points of a curve, compressed ones or those of a twisted Edwards curve:
 * the module and an instance of it with its memory.
 */
import { digitsOf, invert, mod } from '../../field/modulus.js';
import type { Lanes } from '../arithmetic/formula.js';
import { KernelMemory, type WasmCurve } from '../arithmetic/kernel-memory.js';
import { addEnter, type KernelExports } from '../arithmetic/point-kernel.js';
import { instantiate, WasmModule } from '../encoder/module.js';
import { addCompressed } from './compressed.js';
import { DecoderParts } from './decoder-parts.js';
import { addEdwards, type EdwardsConstants } from './edwards-points.js';

export class PointDecoder {
  /** Points of one call of `decode` at most. */
  readonly mostPoints = MOST_POINTS;
  readonly #curve: DecodedCurve;
  readonly #layout: DecoderLayout;
  readonly #exports: DecoderExports;
  readonly #memory: Uint32Array;
  readonly #pointWords: number;

  private constructor(curve: DecodedCurve, layout: DecoderLayout, memory: Uint32Array, exports: DecoderExports) {
    this.#curve = curve;
    this.#layout = layout;
    this.#memory = memory;
    this.#exports = exports;
    this.#pointWords = ((curve.nonResidue === null ? 2 : 4) * curve.wordBytes) / 4;
    for (const [at, values] of layout.constants) memory.set(values, at / 4);
  }

  /**
   * Generates, compiles and instantiates the decoder of a curve.
   *
   * @throws Error if the platform has no WebAssembly, or a content security policy forbids it
   */
  static async open(curve: DecodedCurve, lanes: Lanes): Promise<PointDecoder> {
    const { bytes, layout } = decoderModule(curve, lanes);
    const { memory, instance } = await instantiate(bytes, layout.end);
    const exports = instance.exports as unknown as DecoderExports;
    return new PointDecoder(curve, layout, new Uint32Array(memory.buffer), exports);
  }

  /**
   * Decodes points in place if all are right.
   *
   * @param words x‖y of `mostPoints` points at most, little-endian, with x and an Edwards y below
   * p; infinity is zeros
   * @param scale factor that the coordinates were multiplied by; 1 for compressed points
   * @param byParity true if a compressed point tells y from −y by parity, false if by size
   * @returns index of the first wrong point; the number of points if there is none
   */
  decode(words: Uint32Array, scale: bigint, byParity: boolean): number {
    const { field: f, wordBytes } = this.#curve;
    const { points, words: at, unit } = this.#layout;
    const [memory, length] = [this.#memory, this.#pointWords];
    const count = words.length / length;
    if (count === 0) return 0;
    const padded = count + (count % 2);
    memory.set(digitsOf(mod(f.r * f.r * invert(scale, f.p), f.p), f.width, f.limbs), unit / 4);
    memory.set(words, at / 4);
    memory.fill(0, at / 4 + words.length, at / 4 + padded * length);
    this.#exports.enter(points, at, (padded * 4 * length) / wordBytes);
    const right = Math.min(count, this.#exports.decode(points, at, count, byParity ? 1 : 0));
    if (right === count) words.set(memory.subarray(at / 4, at / 4 + words.length));
    return right;
  }
}

/** A curve, and the form of its points that are decoded. */
export interface DecodedCurve extends WasmCurve {
  /** The twisted Edwards form; null for compressed points. */
  readonly edwards: EdwardsConstants | null;
  /** Mark in the place of y for the odd or larger one of y and −y. */
  readonly oddMark: number;
}

/** Functions of the module. */
interface DecoderExports extends Pick<KernelExports, 'enter'> {
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
interface DecoderLayout {
  readonly points: number;
  readonly words: number;
  /** Address of the constant that `enter` multiplies by. */
  readonly unit: number;
  readonly end: number;
  /** Constants by address, to be written before anything is computed. */
  readonly constants: ReadonlyMap<number, readonly number[]>;
}

/** Points of a list at most; an even number. */
const MOST_POINTS = 128;

/** Bytes behind the words of a list that `enter` may read. */
const READ_AHEAD = 8;

/** Generates the module of a curve. */
const decoderModule = (
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
