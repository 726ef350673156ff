/** Functions on coordinates of points that additions are made of. */
import { digitsOf, mod } from '../../field/modulus.js';
import { range } from '../../field/straight-line.js';
import { type Address, addressPlus, type Code, callWith, type Local } from '../encoder/code.js';
import type { WasmModule } from '../encoder/module.js';
import type { WasmField } from './field-programs.js';
import { addFormula, addIsZero, type Formula, type Lanes, plainProduct } from './formula.js';
import { addInverse } from './inverse.js';

/** Memory of the module while it is generated, and constants that are in it from the beginning. */
export interface ElementMemory {
  /** Reserves `bytes` and returns their address. */
  take(bytes: number): number;
  /** Reserves memory for words that are there from the beginning. */
  words(values: readonly number[]): number;
  /** Address of a mask that keeps the sign. `minus` is the word after it. */
  readonly plus: number;
  /** Address of a mask that negates. */
  readonly minus: number;
}

/**
 * Indices of functions, whose parameters are addresses. A sign is the address of a mask. Functions
 * of the first group take each parameter once per lane; functions of the second group take it once.
 */
export interface Elements {
  /** (to, a, b): a·b. */
  readonly multiply: number;
  /** (to, a, b): a·b of numbers of the prime field. */
  readonly multiplyPrime: number;
  /** (to, a, b): a·b, where b is a difference that `chain` kept. */
  readonly multiplyByKept: number;
  /** (to, kept, a, b, c): a·(b − c) to `to`, and b − c to `kept`. */
  readonly chain: number;
  /** (to, a, b, sign, c, sign): a·(±b ∓ c). */
  readonly slope: number;
  /** (to, slope, x1, x2): slope² − x1 − x2. */
  readonly abscissa: number;
  /** (to, slope, x1, x3, y1, sign): slope·(x1 − x3) ∓ y1. */
  readonly ordinate: number;

  /** (to, a, b): a·b. */
  readonly multiplyOne: number;
  /** (to, a, sign): ±a. */
  readonly signedOne: number;
  /** (to, a, b, sign): a ∓ b. */
  readonly subtractOne: number;
  /** (a): whether a reduced element is 0. */
  readonly isZero: number;
  /** (to, a): 1/a of an element that is not 0. */
  readonly invert: number;
}

/** Adds functions of the prime field to a module, in one form of its elements. */
export interface FieldFunctions {
  /** Bytes of an element. */
  readonly bytes: number;
  /** Adds the function of a formula. Each of its parameters is one address per lane. */
  formula(lanes: Lanes, formula: Formula): number;
  /** Adds (a): whether a is 0. */
  isZero(): number;
  /** Adds (to, a): 1/a of an element that is not 0. @param signed index of ±a */
  inverse(memory: ElementMemory, signed: number): number;
}

/** ±a. */
export const signedFormula: Formula = { parameters: ['to', 'a', 's'], plus: [[{ of: 'a', sign: 's' }, 1]] };

/** a ∓ b. */
const subtractFormula: Formula = {
  parameters: ['to', 'a', 'b', 's'],
  plus: [
    [{ of: 'a' }, 1],
    [{ of: 'b', sign: 's' }, -1],
  ],
};

/** Functions on elements of signed limbs. */
export const integerFunctions = (module: WasmModule, f: WasmField): FieldFunctions => ({
  bytes: f.bytes,
  formula: (lanes, formula) => addFormula(module, f, lanes, formula),
  isZero: () => addIsZero(module, f),
  inverse: (memory, signed) => {
    const start = memory.words(digitsOf(mod(f.r * f.r, f.p), f.width, f.limbs));
    const own = { start, work: memory.take(f.bytes), sign: memory.take(4) };
    return addInverse(module, f, own, (code, ...addresses) => callWith(code, signed, addresses));
  },
});

/* Functions on coordinates in a prime field. */

/** Formulas of `Elements` that are one product each. */
const formulas = {
  multiplyByKept: {
    parameters: ['to', 'a', 'b'],
    factors: [{ of: 'a' }, { of: 'b', as: 'difference' }],
  },
  chain: {
    parameters: ['to', 'kept', 'a', 'b', 'c'],
    factors: [{ of: 'a' }, { of: 'b', less: 'c' }],
    keeps: 'kept',
  },
  slope: {
    parameters: ['to', 'a', 'b', 'sb', 'c', 'sc'],
    factors: [{ of: 'a' }, { of: 'b', sign: 'sb', less: 'c', lessSign: 'sc' }],
  },
  abscissa: {
    parameters: ['to', 'slope', 'x1', 'x2'],
    factors: [{ of: 'slope' }],
    plus: [
      [{ of: 'x1' }, -1],
      [{ of: 'x2' }, -1],
    ],
  },
  ordinate: {
    parameters: ['to', 'slope', 'x1', 'x3', 'y1', 's1'],
    factors: [{ of: 'slope' }, { of: 'x1', less: 'x3' }],
    plus: [[{ of: 'y1', sign: 's1' }, -1]],
  },
} as const satisfies Partial<Record<keyof Elements, Formula>>;

/** Functions of which Horner's rule needs no others. */
export type SingleElements = Omit<Elements, 'multiplyByKept' | 'chain' | 'slope'>;

/** Adds the functions that additions one after the other need. */
export const singleElements = (functions: FieldFunctions, lanes: Lanes, memory: ElementMemory): SingleElements => {
  const add = (formula: Formula): number => functions.formula(lanes, formula);
  const multiply = add(plainProduct);
  const signedOne = functions.formula(1, signedFormula);
  return {
    multiply,
    multiplyPrime: multiply,
    abscissa: add(formulas.abscissa),
    ordinate: add(formulas.ordinate),
    multiplyOne: lanes === 1 ? multiply : functions.formula(1, plainProduct),
    signedOne,
    subtractOne: functions.formula(1, subtractFormula),
    isZero: functions.isZero(),
    invert: functions.inverse(memory, signedOne),
  };
};

export const primeElements = (functions: FieldFunctions, lanes: Lanes, memory: ElementMemory): Elements => {
  const add = (formula: Formula): number => functions.formula(lanes, formula);
  return {
    ...singleElements(functions, lanes, memory),
    multiplyByKept: add(formulas.multiplyByKept),
    chain: add(formulas.chain),
    slope: add(formulas.slope),
  };
};

/* Functions on coordinates in a quadratic extension: pairs c0 + c1·u. */

/** A parameter in all lanes. */
type P = Local[];

const differenceProduct: Formula = {
  parameters: ['to', 'a', 'b', 'c', 'd'],
  factors: [
    { of: 'a', less: 'b' },
    { of: 'c', less: 'd' },
  ],
};

const sumLess: Formula = {
  parameters: ['to', 'a', 'b', 'c'],
  plus: [
    [{ of: 'a' }, 1],
    [{ of: 'b' }, 1],
    [{ of: 'c' }, -1],
  ],
};

const lessBoth: Formula = {
  parameters: ['to', 'a', 'b', 'c'],
  plus: [
    [{ of: 'a' }, 1],
    [{ of: 'b' }, -1],
    [{ of: 'c' }, -1],
  ],
};

const signedDifference: Formula = {
  parameters: ['to', 'b', 'sb', 'c', 'sc'],
  plus: [[{ of: 'b', sign: 'sb', less: 'c', lessSign: 'sc' }, 1]],
};

/** a + times·b. */
const plusMultiple = (times: number): Formula => ({
  parameters: ['to', 'a', 'b'],
  plus: [
    [{ of: 'a' }, 1],
    [{ of: 'b' }, times],
  ],
});

/**
 * Adds products of pairs by Karatsuba's method: a0·b1 + a1·b0 = a0·b0 + a1·b1 − (a0 − a1)(b0 − b1).
 * Differences are used since their limbs are no longer than those of elements; sums would not fit
 * 64 bits.
 */
const addProducts = (
  pairs: PairFunctions,
  nonResidue: number,
): { readonly multiply: number; readonly multiplyPrime: number } => {
  const multiplyPrime = pairs.prime(plainProduct);
  const multiplyDifferences = pairs.prime(differenceProduct);
  const addMultiple = pairs.prime(plusMultiple(nonResidue));
  const addLess = pairs.prime(sumLess);
  const [low, high, cross] = [pairs.scratch(), pairs.scratch(), pairs.scratch()];
  const multiply = pairs.define<[P, P, P]>(3, (code, to, a, b) => {
    const [a0, a1] = [code.half(a, 0), code.half(a, 1)];
    const [b0, b1] = [code.half(b, 0), code.half(b, 1)];
    code.call(multiplyPrime, low, a0, b0);
    code.call(multiplyPrime, high, a1, b1);
    code.call(multiplyDifferences, cross, a0, a1, b0, b1);
    code.call(addMultiple, code.half(to, 0), low, high);
    code.call(addLess, code.half(to, 1), low, high, cross);
  });
  return { multiply, multiplyPrime };
};

/** Functions of the prime field that functions on one pair call. */
interface PrimeFunctions {
  readonly multiply: number;
  readonly signed: number;
  readonly subtract: number;
  readonly invert: number;
  readonly isZero: number;
  /** (to, a, b): a − u²·b. */
  readonly norm: number;
}

/** Adds the functions on several pairs. */
const addLaneFunctions = (
  pairs: PairFunctions,
  multiply: number,
  prime: { readonly less: number; readonly signedDifference: number },
  scratch: { readonly work: number[]; readonly zero: number[]; readonly plus: number[] },
): Pick<Elements, 'chain' | 'slope' | 'abscissa' | 'ordinate'> => {
  const { less } = prime;
  const { work, zero, plus } = scratch;
  return {
    chain: pairs.define<[P, P, P, P, P]>(5, (code, to, kept, a, b, c) => {
      code.both(less, kept, b, c, zero);
      code.call(multiply, to, a, kept);
    }),
    slope: pairs.define<[P, P, P, P, P, P]>(6, (code, to, a, b, sb, c, sc) => {
      code.both(prime.signedDifference, work, b, { sign: sb }, c, { sign: sc });
      code.call(multiply, to, a, work);
    }),
    abscissa: pairs.define<[P, P, P, P]>(4, (code, to, slope, x1, x2) => {
      code.call(multiply, work, slope, slope);
      code.both(less, to, work, x1, x2);
    }),
    ordinate: pairs.define<[P, P, P, P, P, P]>(6, (code, to, slope, x1, x3, y1, s1) => {
      code.both(less, work, x1, x3, zero);
      code.call(multiply, work, slope, work);
      code.both(prime.signedDifference, to, work, { sign: plus }, y1, { sign: s1 });
    }),
  };
};

/** Adds 1/(c0 + c1·u) = (c0 − c1·u) / (c0² − u²·c1²). */
const addInvert = (
  one: PairFunctions,
  prime: PrimeFunctions,
  { norm, square, minus }: { readonly norm: number; readonly square: number; readonly minus: number },
): number =>
  one.define<[P, P]>(2, (code, to, a) => {
    const [c0, c1] = [code.half(a, 0), code.half(a, 1)];
    code.call(prime.multiply, [norm], c0, c0);
    code.call(prime.multiply, [square], c1, c1);
    code.call(prime.norm, [norm], [norm], [square]);
    code.call(prime.invert, [norm], [norm]);
    code.call(prime.multiply, code.half(to, 0), c0, [norm]);
    code.call(prime.multiply, [square], c1, [norm]);
    code.call(prime.signed, code.half(to, 1), [square], [minus]);
  });

/** Adds the functions on one pair. */
const addOneFunctions = (
  module: WasmModule,
  functions: FieldFunctions,
  one: PairFunctions,
  prime: PrimeFunctions,
  scratch: { readonly norm: number; readonly square: number; readonly minus: number },
): Pick<Elements, 'signedOne' | 'subtractOne' | 'isZero' | 'invert'> => ({
  signedOne: one.define<[P, P, P]>(3, (code, to, a, s) => code.both(prime.signed, to, a, { sign: s })),
  subtractOne: one.define<[P, P, P, P]>(4, (code, to, a, b, s) => code.both(prime.subtract, to, a, b, { sign: s })),
  isZero: module.add(null, { parameters: ['i32'], result: 'i32' }, (code) => {
    for (const c of [0, functions.bytes]) callWith(code, prime.isZero, [[code.parameter(0), c]]);
    code.do('i32.and');
  }),
  invert: addInvert(one, prime, scratch),
});

/** @param nonResidue u² */
export const quadraticElements = (
  module: WasmModule,
  functions: FieldFunctions,
  nonResidue: number,
  lanes: Lanes,
  memory: ElementMemory,
): Elements => {
  const many = new PairFunctions(module, functions, lanes, memory);
  const products = addProducts(many, nonResidue);
  const one = lanes === 1 ? many : new PairFunctions(module, functions, 1, memory);
  const productsOfOne = lanes === 1 ? products : addProducts(one, nonResidue);
  const [work, zero] = [many.scratch(), many.scratch()];
  const laneFunctions = {
    less: many.prime(lessBoth),
    signedDifference: many.prime(signedDifference),
  };
  const signed = functions.formula(1, signedFormula);
  const subtract = functions.formula(1, subtractFormula);
  const prime: PrimeFunctions = {
    multiply: productsOfOne.multiplyPrime,
    signed,
    subtract,
    invert: functions.inverse(memory, signed),
    isZero: functions.isZero(),
    norm: one.prime(plusMultiple(-nonResidue)),
  };
  const [norm, square] = [memory.take(functions.bytes), memory.take(functions.bytes)];
  const { multiply, multiplyPrime } = products;
  return {
    multiply,
    multiplyPrime,
    multiplyByKept: multiply,
    ...addLaneFunctions(many, multiply, laneFunctions, { work, zero, plus: many.same(memory.plus) }),
    multiplyOne: productsOfOne.multiply,
    ...addOneFunctions(module, functions, one, prime, { norm, square, minus: memory.minus }),
  };
};

/* Writes functions on pairs c0 + c1·u, c0 first, in one lane or two. */

/** An argument: its address in each lane. */
type Argument = readonly Address[];

/** A sign, which is the same for c0 and c1. */
interface SignArgument {
  readonly sign: Argument;
}

/** Body of one function. */
class PairCode {
  readonly #code: Code;
  readonly #bytes: number;

  /** @param bytes of c0 */
  constructor(code: Code, bytes: number) {
    this.#code = code;
    this.#bytes = bytes;
  }

  call(index: number, ...args: readonly Argument[]): void {
    callWith(this.#code, index, args.flat());
  }

  /** Returns the addresses of c0, or of c1. */
  half(argument: Argument, c: 0 | 1): Argument {
    return argument.map((address) => addressPlus(address, c * this.#bytes));
  }

  /** Calls a function of the prime field with c0 of each argument, then with c1. */
  both(index: number, ...args: readonly (Argument | SignArgument)[]): void {
    for (const c of [0, 1] as const) {
      this.call(index, ...args.map((arg) => ('sign' in arg ? arg.sign : this.half(arg, c))));
    }
  }
}

/** Defines functions on pairs, in one lane or two. */
class PairFunctions {
  readonly #module: WasmModule;
  readonly #functions: FieldFunctions;
  readonly #memory: ElementMemory;
  readonly #lanes: Lanes;

  constructor(module: WasmModule, functions: FieldFunctions, lanes: Lanes, memory: ElementMemory) {
    this.#module = module;
    this.#functions = functions;
    this.#memory = memory;
    this.#lanes = lanes;
  }

  /** Reserves one pair per lane. */
  scratch(): number[] {
    return range(this.#lanes).map(() => this.#memory.take(2 * this.#functions.bytes));
  }

  /** Returns an address once per lane. */
  same(address: number): number[] {
    return range(this.#lanes).map(() => address);
  }

  /** Adds a function of the prime field. */
  prime(formula: Formula): number {
    return this.#functions.formula(this.#lanes, formula);
  }

  /** Adds a function of `parameters` parameters, each once per lane. */
  define<Names extends readonly Local[][]>(
    parameters: Names['length'],
    write: (code: PairCode, ...parameters: Names) => void,
  ): number {
    const lanes = range(this.#lanes);
    const types = range(parameters * lanes.length).map(() => 'i32' as const);
    return this.#module.add(null, { parameters: types }, (code) => {
      const locals = range(parameters).map((i) => lanes.map((lane) => code.parameter(i * lanes.length + lane)));
      write(new PairCode(code, this.#functions.bytes), ...(locals as unknown as Names));
    });
  }
}
