/** Weighted sums of points by Horner's rule: an instance of the module with its memory. */
import { mod } from '../../field/modulus.js';
import { integerFunctions } from '../arithmetic/elements.js';
import type { WasmField } from '../arithmetic/field-programs.js';
import { type CurveParameters, wasmCurve } from '../arithmetic/wasm-curve.js';
import { growMemory, instantiate } from '../encoder/memory.js';
import { valueOfWords, wordsOfElement } from '../points/element-words.js';
import { type HornerExports, type HornerModule, hornerModule } from './horner-module.js';

/** Bytes that divide the address of the points. */
const ALIGNMENT = 16;

/** Bytes behind numbers that `enter` may read. */
const PADDING = 8;

/** A running total in WebAssembly, and the points that are added to it. */
export class WasmHorner {
  readonly #field: WasmField;
  readonly #module: HornerModule;
  readonly #memory: WebAssembly.Memory;
  readonly #exports: HornerExports;
  readonly #unit: readonly number[];
  /** Words of a point as it is given. */
  readonly #pointWords: number;
  /** Address of the points. */
  readonly #points: number;

  private constructor(
    { coordinates: { prime, words } }: CurveParameters,
    field: WasmField,
    module: HornerModule,
    memory: WebAssembly.Memory,
    instance: WebAssembly.Instance,
  ) {
    this.#field = field;
    this.#module = module;
    this.#memory = memory;
    this.#exports = instance.exports as unknown as HornerExports;
    // from the Montgomery form of the points to that of the module
    this.#unit = wordsOfElement(field, mod(field.r * mod(field.r * prime.rInverse, field.p), field.p));
    this.#pointWords = 2 * words;
    this.#points = ALIGNMENT * Math.ceil(module.layout.end / ALIGNMENT);
    const all = new Int32Array(memory.buffer);
    for (const [at, values] of module.layout.constants) all.set(values, at / 4);
  }

  /**
   * Generates, compiles and instantiates the module of a curve. Rejects where the platform has no
   * WebAssembly, or a content security policy forbids it.
   */
  static async open(curve: CurveParameters): Promise<WasmHorner> {
    const own = wasmCurve(curve);
    const module = hornerModule(own, integerFunctions);
    const { memory, instance } = await instantiate(module.bytes, module.layout.end);
    return new WasmHorner(curve, own.field, module, memory, instance);
  }

  /**
   * Copies points into memory, and sets the total to infinity.
   *
   * @param points x‖y of each in Montgomery form, of numbers below p; infinity is zeros
   * @returns how many points precede the first that is not on the curve
   */
  take(points: Uint32Array): number {
    const { layout, total } = this.#module;
    const count = points.length / this.#pointWords;
    if (count === 0) return 0;
    const from = this.#points + count * layout.point;
    const missing = from + 4 * points.length + PADDING - this.#memory.buffer.byteLength;
    if (missing > 0) growMemory(this.#memory, missing);
    const words = new Int32Array(this.#memory.buffer);
    words.fill(0, total / 4, (total + 1.5 * layout.point) / 4);
    words.set(this.#unit, layout.unit / 4);
    words.set(points, from / 4);
    this.#exports.enter(this.#points, from, (count * layout.point) / this.#field.bytes);
    return this.#exports.check(this.#points, count);
  }

  /** Doubles the total. */
  double(): void {
    this.#exports.double();
  }

  /** Adds a point to the total. */
  add(index: number): void {
    this.#exports.add(this.#points + index * this.#module.layout.point);
  }

  /** Returns the coefficients of x and y of the total, and leaves it affine; null for infinity. */
  total(): readonly bigint[] | null {
    if (this.#exports.finish() === 0) return null;
    const { layout, total } = this.#module;
    const { bytes } = this.#field;
    return Array.from({ length: layout.point / bytes }, (_, i) =>
      valueOfWords(this.#field, new Int32Array(this.#memory.buffer, total + i * bytes, bytes / 4)),
    );
  }
}
