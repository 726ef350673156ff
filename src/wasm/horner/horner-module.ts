/**
 * WebAssembly module that adds up a weighted sum of points by Horner's rule, in Jacobian
 * coordinates: a running total is doubled, and checked affine points are added to it.
 */
import { type Address, addressPlus } from '../arithmetic/addresses.js';
import { addCheck } from '../arithmetic/check-curve.js';
import type { FieldFunctions } from '../arithmetic/elements.js';
import { addEnter } from '../arithmetic/enter-numbers.js';
import type { FieldFormat } from '../arithmetic/field-programs.js';
import { type KernelLayout, KernelMemory, type WasmCurve } from '../arithmetic/kernel-memory.js';
import { call, copyElement, isInfinity, type KernelParts } from '../arithmetic/kernel-parts.js';
import type { KernelExports } from '../arithmetic/point-kernel.js';
import { type SingleElements, singleElements } from '../arithmetic/prime-elements.js';
import { quadraticElements } from '../arithmetic/quadratic-elements.js';
import { WasmModule } from '../encoder/module.js';

/** Functions of the module. The total (X : Y : Z) is infinity where Z = 0, as in fresh memory. */
export interface HornerExports extends Pick<KernelExports, 'enter' | 'check'> {
  /** Doubles the total. */
  double(): void;
  /** Adds a point, two coordinates x‖y; infinity is zeros. */
  add(point: number): void;
  /** Makes the coordinates of the total affine. @returns 0 if the total is infinity, else 1 */
  finish(): number;
}

/** A generated module and its memory. */
export interface HornerModule {
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
    const product = (to: number, a: number, b: number): void => call(code, multiplyOne, to, a, b);
    const sum = (to: number, a: number, b: number): void => call(code, subtractOne, to, a, b, minus);
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
    call(code, abscissa, x, m, s, s);
    product(t, t, t);
    sum(t, t, t);
    call(code, ordinate, y, m, s, x, t, plus);
  });
};

/** Adds `add`; `madd` of the Explicit-Formulas Database. @param double index of the function */
const addAdd = ({ module, elements, memory, x, y, z, take }: HornerParts, double: number): void => {
  const { multiplyOne, subtractOne, abscissa, ordinate, isZero } = elements;
  const { element, plus, one } = memory;
  const [zz, h, r, hh, v] = [take(), take(), take(), take(), take()] as const;
  module.add('add', { parameters: ['i32'] }, (code) => {
    const point = code.parameter(0);
    const product = (to: number, a: number, b: Address): void => call(code, multiplyOne, to, a, b);
    const returnIf = (then: () => void): void => {
      code.if(() => {
        then();
        code.do('return');
      });
    };
    isInfinity(code, point, element);
    returnIf(() => {});
    call(code, isZero, z);
    returnIf(() => {
      copyElement(code, x, point, element);
      copyElement(code, y, [point, element], element);
      copyElement(code, z, one, element);
    });
    // h = x·Z² − X and r = y·Z³ − Y
    product(zz, z, z);
    product(h, zz, point);
    call(code, subtractOne, h, h, x, plus);
    product(zz, z, zz);
    product(r, zz, addressPlus(point, element));
    call(code, subtractOne, r, r, y, plus);
    call(code, isZero, h);
    returnIf(() => {
      call(code, isZero, r);
      code.if(() => code.call(double).do('return'));
      copyElement(code, z, memory.zero, element);
    });
    product(z, z, h);
    product(hh, h, h);
    product(h, h, hh);
    product(v, x, hh);
    product(hh, y, h);
    call(code, abscissa, x, r, v, v);
    call(code, subtractOne, x, x, h, plus);
    call(code, ordinate, y, r, v, x, hh, plus);
  });
};

/** Adds `finish`. */
const addFinish = ({ module, elements, x, y, z, take }: HornerParts): void => {
  const { multiplyOne, invert, isZero } = elements;
  const [inverse, square] = [take(), take()];
  module.add('finish', { parameters: [], result: 'i32' }, (code) => {
    call(code, isZero, z);
    code.if(() => code.i32(0).do('return'));
    call(code, invert, inverse, z);
    call(code, multiplyOne, square, inverse, inverse);
    call(code, multiplyOne, x, x, square);
    call(code, multiplyOne, square, square, inverse);
    call(code, multiplyOne, y, y, square);
    code.i32(1);
  });
};

/**
 * Generates the module of a curve.
 *
 * @param functionsOf adds functions of the prime field
 */
export const hornerModule = <Field extends FieldFormat>(
  curve: WasmCurve<Field>,
  functionsOf: (module: WasmModule, field: Field) => FieldFunctions,
): HornerModule => {
  const { field, nonResidue } = curve;
  const module = new WasmModule();
  const memory = new KernelMemory(curve, 1);
  const functions = functionsOf(module, field);
  const elements =
    nonResidue === null
      ? singleElements(functions, 1, memory)
      : quadraticElements(module, functions, Number(nonResidue), 1, memory);
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
