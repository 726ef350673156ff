/** An instance of a decoder with its memory. */
import { digitsOf, invert, mod } from '../../field/modulus.js';
import type { Lanes } from '../arithmetic/lane-code.js';
import { instantiate } from '../encoder/memory.js';
import {
  type DecodedCurve,
  type DecoderExports,
  type DecoderLayout,
  decoderModule,
  MOST_POINTS,
} from './decoder-module.js';

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
