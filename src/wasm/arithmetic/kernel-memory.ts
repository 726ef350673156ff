/** Curve, memory and other values that the functions of a kernel share while they are written. */
import type { Coordinate } from '../../api/values.js';
import type { Field } from '../../field/field.js';
import { digitsOf, mod } from '../../field/modulus.js';
import { range } from '../../field/straight-line.js';
import { type Address, type Code, callWith, type Local, pushAddress } from '../encoder/code.js';
import type { WasmModule } from '../encoder/module.js';
import type { ElementMemory, Elements } from './elements.js';
import { type FieldFormat, toMontgomery, type WasmField, wasmField } from './field-programs.js';
import type { Lanes } from './formula.js';

/** Fields of a curve's context that a module depends on. */
export interface CurveParameters {
  /** The field of coordinates. */
  readonly coordinates: Field;
  readonly a: Coordinate;
  readonly b: Coordinate;
}

/** Returns the parameters of a curve that a WebAssembly module is generated from. */
export const wasmCurve = ({ coordinates: f, a, b }: CurveParameters): WasmCurve => ({
  field: wasmField(f.prime.p, f.degree),
  nonResidue: f.nonResidue,
  a: f.coefficients(a),
  b: f.coefficients(b),
  wordBytes: f.prime.bytes,
});

/** Additions of one call at most; they share an inversion. */
const MAX_ADDITIONS = 512;

/** Layout of the module's memory; the caller may use everything from `end` on. */
export interface KernelLayout {
  /** Bytes of a point. */
  readonly point: number;
  readonly end: number;
  /** Additions of one call at most. */
  readonly additions: number;
  /** Address of the constant that `enter` multiplies by. */
  readonly unit: number;
  /** Constants by address, to be written before anything is computed. */
  readonly constants: ReadonlyMap<number, readonly number[]>;
}

/** Parameters of the curve that a module is generated for. */
export interface WasmCurve<Field extends FieldFormat = WasmField> {
  readonly field: Field;
  /** u² if coordinates are pairs c0 + c1·u; null if they are numbers. */
  readonly nonResidue: bigint | null;
  /** Coefficients of a of y² = x³ + a·x + b. */
  readonly a: readonly bigint[];
  /** Coefficients of b. */
  readonly b: readonly bigint[];
  /** Bytes of a coefficient in the points that `enter` is given. */
  readonly wordBytes: number;
}

/** Temporaries of one addition, each once per lane. */
export interface StepMemory {
  readonly x: readonly number[];
  readonly slope: readonly number[];
  readonly inverse: readonly number[];
  readonly numerator: readonly number[];
  /** Inverse of the product of the denominators so far. */
  readonly inverseOfProduct: readonly number[];
  /** Space for points that are never read. */
  readonly junk: readonly number[];
}

/** Lists with one item for each addition. */
export interface ListMemory {
  readonly kinds: number;
  readonly denominators: number;
  /** Products of all denominators before. */
  readonly prefixes: number;
}

export class KernelMemory implements ElementMemory {
  readonly constants = new Map<number, readonly number[]>();
  /** Bytes of a coordinate. */
  readonly element: number;
  readonly plus: number;
  readonly minus: number;
  readonly one: number;
  readonly zero: number;
  readonly a: number;
  readonly b: number;
  readonly unit: number;
  readonly #field: FieldFormat;
  readonly #lanes: Lanes;
  #next = 16;

  constructor({ field, nonResidue, a, b }: WasmCurve<FieldFormat>, lanes: Lanes) {
    this.#field = field;
    this.#lanes = lanes;
    const degree = nonResidue === null ? 1 : 2;
    this.element = degree * field.bytes;
    [this.plus, this.minus] = [this.take(4), this.take(4)];
    this.constants.set(this.plus, [0]);
    this.constants.set(this.minus, [-1]);
    this.one = this.#coordinate(degree, [1n]);
    this.zero = this.#coordinate(degree, [0n]);
    this.a = this.#coordinate(degree, a);
    this.b = this.#coordinate(degree, b);
    // the caller overwrites it
    this.unit = this.constant(0n);
  }

  take(bytes: number): number {
    const at = this.#next;
    this.#next += bytes;
    return at;
  }

  words(values: readonly number[]): number {
    const at = this.take(4 * values.length);
    this.constants.set(at, values);
    return at;
  }

  /** Adds numbers below p, one after the other. @returns the address of the first */
  constant(...numbers: readonly bigint[]): number {
    const { width, limbs } = this.#field;
    return this.words(numbers.flatMap((value) => digitsOf(value, width, limbs)));
  }

  /** Adds a number of the prime field, in Montgomery form. @returns its address */
  montgomery(value: bigint): number {
    return this.constant(toMontgomery(this.#field, value));
  }

  /** Address of the next reservation. */
  get end(): number {
    return this.#next;
  }

  #coordinate(degree: number, values: readonly bigint[]): number {
    const f = this.#field;
    return this.constant(...range(degree).map((i) => toMontgomery(f, mod(values[i] ?? 0n, f.p))));
  }

  /** Reserves a coordinate. */
  takeElement(): number {
    return this.take(this.element);
  }

  #perLane(bytes: number): number[] {
    return range(this.#lanes).map(() => this.take(bytes));
  }

  takeStep(): StepMemory {
    const element = () => this.#perLane(this.element);
    return {
      x: element(),
      slope: element(),
      inverse: element(),
      numerator: element(),
      inverseOfProduct: element(),
      junk: this.#perLane(2 * this.element),
    };
  }

  takeLists(): ListMemory {
    return {
      kinds: this.take(4 * MAX_ADDITIONS),
      denominators: this.take(this.element * MAX_ADDITIONS),
      prefixes: this.take(this.element * (MAX_ADDITIONS + this.#lanes)),
    };
  }

  layout(): KernelLayout {
    return {
      point: 2 * this.element,
      end: this.#next,
      additions: MAX_ADDITIONS,
      constants: this.constants,
      unit: this.unit,
    };
  }
}

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
