/**
 * Weighted sums of points by Horner's rule: a WebAssembly module and an instance of it with its
 * memory. A running total in Jacobian coordinates is doubled, and checked affine points are added
 * to it.
 */
import { mod } from '../../field/modulus.js';
import { integerFunctions, quadraticElements, type SingleElements, singleElements } from '../arithmetic/elements.js';
import type { WasmField } from '../arithmetic/field-programs.js';
import {
  type CurveParameters,
  copyElement,
  isInfinity,
  type KernelLayout,
  KernelMemory,
  type KernelParts,
  type WasmCurve,
  wasmCurve,
} from '../arithmetic/kernel-memory.js';
import { addCheck, addEnter, type KernelExports } from '../arithmetic/point-kernel.js';
import { type Address, addressPlus } from '../encoder/code.js';
import { growMemory, instantiate, WasmModule } from '../encoder/module.js';
import { valueOfWords, wordsOfElement } from './kernel.js';

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
    const module = hornerModule(own);
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

/** Functions of the module. The total (X : Y : Z) is infinity where Z = 0, as in fresh memory. */
interface HornerExports extends Pick<KernelExports, 'enter' | 'check'> {
  /** Doubles the total. */
  double(): void;
  /** Adds a point, two coordinates x‖y; infinity is zeros. */
  add(point: number): void;
  /** Makes the coordinates of the total affine. @returns 0 if the total is infinity, else 1 */
  finish(): number;
}

/** A generated module and its memory. */
interface HornerModule {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly layout: KernelLayout;
  /** Address of the total, three coordinates. */
  readonly total: number;
}

/** Values that the functions of the module share while they are written. */
interface HornerParts extends Pick<KernelParts, 'module' | 'curve' | 'memory'> {
  readonly elements: SingleElements;
  readonly x: number;
  readonly y: number;
  readonly z: number;
  /** Reserves space for a coordinate. */
  readonly take: () => number;
}

/** Adds `double`, for any a; `dbl-2007-bl` of the Explicit-Formulas Database. */
const addDouble = ({ module, curve, elements, memory, x, y, z, take }: HornerParts): number => {
  const { multiplyOne, subtractOne, abscissa, ordinate } = elements;
  const { plus, minus } = memory;
  const [twice, t, s, m, square] = [take(), take(), take(), take(), take()] as const;
  return module.add('double', { parameters: [] }, (code) => {
    const product = (to: number, a: number, b: number) => code.call(multiplyOne, to, a, b);
    const sum = (to: number, a: number, b: number) => code.call(subtractOne, to, a, b, minus);
    // t = 2·Y², s = 4·X·Y², m = 3·X² + a·Z⁴
    sum(twice, y, y);
    product(t, twice, y);
    product(s, x, t);
    sum(s, s, s);
    product(square, x, x);
    sum(m, square, square);
    sum(m, m, square);
    if (curve.a.some((value) => value !== 0n)) {
      product(square, z, z);
      product(square, square, square);
      product(square, memory.a, square);
      sum(m, m, square);
    }
    product(z, twice, z);
    code.call(abscissa, x, m, s, s);
    product(t, t, t);
    sum(t, t, t);
    code.call(ordinate, y, m, s, x, t, plus);
  });
};

/** Adds `add`; `madd` of the Explicit-Formulas Database. @param double index of the function */
const addAdd = ({ module, elements, memory, x, y, z, take }: HornerParts, double: number): void => {
  const { multiplyOne, subtractOne, abscissa, ordinate, isZero } = elements;
  const { element, plus, one } = memory;
  const [zz, h, r, hh, v] = [take(), take(), take(), take(), take()] as const;
  module.add('add', { parameters: ['i32'] }, (code, point) => {
    const product = (to: number, a: number, b: Address) => code.call(multiplyOne, to, a, b);
    const returnIf = (then: () => void): void => {
      code.if(() => {
        then();
        code.do('return');
      });
    };
    isInfinity(code, point, element);
    returnIf(() => {});
    code.call(isZero, z);
    returnIf(() => {
      copyElement(code, x, point, element);
      copyElement(code, y, [point, element], element);
      copyElement(code, z, one, element);
    });
    // h = x·Z² − X and r = y·Z³ − Y
    product(zz, z, z);
    product(h, zz, point);
    code.call(subtractOne, h, h, x, plus);
    product(zz, z, zz);
    product(r, zz, addressPlus(point, element));
    code.call(subtractOne, r, r, y, plus);
    code.call(isZero, h);
    returnIf(() => {
      code.call(isZero, r);
      code.if(() => code.call(double).do('return'));
      copyElement(code, z, memory.zero, element);
    });
    product(z, z, h);
    product(hh, h, h);
    product(h, h, hh);
    product(v, x, hh);
    product(hh, y, h);
    code.call(abscissa, x, r, v, v);
    code.call(subtractOne, x, x, h, plus);
    code.call(ordinate, y, r, v, x, hh, plus);
  });
};

/** Adds `finish`. */
const addFinish = ({ module, elements, x, y, z, take }: HornerParts): void => {
  const { multiplyOne, invert, isZero } = elements;
  const [inverse, square] = [take(), take()];
  module.add('finish', { parameters: [], result: 'i32' }, (code) => {
    code.call(isZero, z);
    code.if(() => code.i32(0).do('return'));
    code.call(invert, inverse, z);
    code.call(multiplyOne, square, inverse, inverse);
    code.call(multiplyOne, x, x, square);
    code.call(multiplyOne, square, square, inverse);
    code.call(multiplyOne, y, y, square);
    code.i32(1);
  });
};

/** Generates the module of a curve. */
const hornerModule = (curve: WasmCurve): HornerModule => {
  const { field, nonResidue } = curve;
  const module = new WasmModule();
  const memory = new KernelMemory(curve, 1);
  const functions = integerFunctions(module, field);
  const elements =
    nonResidue === null
      ? singleElements(functions, 1, memory)
      : quadraticElements({ module, functions, memory, nonResidue: Number(nonResidue) }, 1);
  const take = (): number => memory.takeElement();
  const temporary = { difference: take(), left: take(), right: take() };
  const [x, y, z] = [take(), take(), take()] as const;
  const parts: HornerParts = { module, curve, elements, memory, x, y, z, take };
  addEnter({ ...parts, lanes: 1, step: { junk: [take()] } });
  addCheck({ ...parts, temporary });
  addAdd(parts, addDouble(parts));
  addFinish(parts);
  return { bytes: module.bytes(), layout: memory.layout(), total: x };
};
