/** Functions on coordinates of points that additions are made of. */
import { digitsOf, mod } from '../../field/modulus.js';
import { range } from '../../field/straight-line.js';
import { type Address, addressPlus, type Code, type Local } from '../encoder/code.js';
import type { WasmModule } from '../encoder/module.js';
import type { WasmField } from './field-programs.js';
import { addFormula, addIsZero, type Formula, type Lanes, plainProduct, sumFormula } from './formula.js';
import { addInverse } from './inverse.js';
import { addReduce, addWriteWords } from './numbers.js';

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
  /** (to, a): c0 − c1·u of a pair; null in a prime field. */
  readonly conjugateOne: number | null;
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
  /** Adds (words, a): writes a, which it may overwrite, as a number below p of `wordBytes`. */
  join(wordBytes: number): number;
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
    return addInverse(module, f, own, (code, ...addresses) => code.call(signed, ...addresses));
  },
  join: (wordBytes) => {
    const parts = { module, field: f, wordBytes };
    const [reduce, write] = [addReduce(parts), addWriteWords(parts)];
    return module.add(null, { parameters: ['i32', 'i32'] }, (code, words, a) => {
      code.get(a).call(reduce).get(words).get(a).call(write);
    });
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

/** The functions that Horner's rule needs. */
export type SingleElements = Omit<Elements, 'multiplyByKept' | 'chain' | 'slope' | 'conjugateOne'>;

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
    conjugateOne: null,
    multiplyByKept: add(formulas.multiplyByKept),
    chain: add(formulas.chain),
    slope: add(formulas.slope),
  };
};

/* Functions on coordinates in a quadratic extension: pairs c0 + c1·u, c0 first. */

const differenceProduct: Formula = {
  parameters: ['to', 'a', 'b', 'c', 'd'],
  factors: [
    { of: 'a', less: 'b' },
    { of: 'c', less: 'd' },
  ],
};

const signedDifference: Formula = {
  parameters: ['to', 'b', 'sb', 'c', 'sc'],
  plus: [[{ of: 'b', sign: 'sb', less: 'c', lessSign: 'sc' }, 1]],
};

/** An argument: its address in each lane. A sign is the same for c0 and c1. */
type Argument = readonly Address[] | { readonly sign: readonly Address[] };

/** Body of one function on pairs. */
class PairCode {
  readonly #code: Code;
  readonly #bytes: number;

  /** @param bytes of c0 */
  constructor(code: Code, bytes: number) {
    this.#code = code;
    this.#bytes = bytes;
  }

  call(index: number, ...args: readonly (readonly Address[])[]): void {
    this.#code.call(index, ...args.flat());
  }

  /** Returns the addresses of c0, and of c1. */
  halves(argument: readonly Address[]): readonly [c0: Address[], c1: Address[]] {
    return [[...argument], argument.map((address) => addressPlus(address, this.#bytes))];
  }

  /** Calls a function of the prime field with c0 of each argument, then with c1. */
  both(index: number, ...args: readonly Argument[]): void {
    for (const c of [0, 1] as const) {
      this.call(index, ...args.map((arg) => ('sign' in arg ? arg.sign : this.halves(arg)[c])));
    }
  }
}

/** Where functions on pairs are added. */
interface PairModule {
  readonly module: WasmModule;
  readonly functions: FieldFunctions;
  readonly memory: ElementMemory;
  /** u². */
  readonly nonResidue: number;
}

/** Adds functions on pairs, in one lane or two. */
class PairFunctions {
  readonly #at: PairModule;
  readonly #lanes: Lanes;

  constructor(at: PairModule, lanes: Lanes) {
    this.#at = at;
    this.#lanes = lanes;
  }

  /** Reserves one pair per lane. */
  scratch(): number[] {
    return range(this.#lanes).map(() => this.#at.memory.take(2 * this.#at.functions.bytes));
  }

  /** Adds a function of the prime field. */
  prime(formula: Formula): number {
    return this.#at.functions.formula(this.#lanes, formula);
  }

  /** Adds a function of parameters, each once per lane. */
  define<const Name extends string>(
    names: readonly Name[],
    write: (code: PairCode, parameters: Readonly<Record<Name, Local[]>>) => void,
  ): number {
    const { module, functions } = this.#at;
    const lanes = this.#lanes;
    const types = range(names.length * lanes).map(() => 'i32' as const);
    return module.add(null, { parameters: types }, (code, ...locals) => {
      const parameters = names.map((name, i) => [name, locals.slice(i * lanes, (i + 1) * lanes)]);
      write(new PairCode(code, functions.bytes), Object.fromEntries(parameters) as Record<Name, Local[]>);
    });
  }

  /**
   * Adds products of pairs by Karatsuba's method: a0·b1 + a1·b0 = a0·b0 + a1·b1 − (a0 − a1)(b0 − b1).
   * Differences are used since their limbs are no longer than those of elements; sums would not fit
   * 64 bits.
   */
  products(): Pick<Elements, 'multiply' | 'multiplyPrime'> {
    const multiplyPrime = this.prime(plainProduct);
    const multiplyDifferences = this.prime(differenceProduct);
    const addMultiple = this.prime(sumFormula({ a: 1, b: this.#at.nonResidue }));
    const addLess = this.prime(sumFormula({ a: 1, b: 1, c: -1 }));
    const [low, high, cross] = [this.scratch(), this.scratch(), this.scratch()];
    const multiply = this.define(['to', 'a', 'b'], (code, { to, a, b }) => {
      const [[a0, a1], [b0, b1], [to0, to1]] = [code.halves(a), code.halves(b), code.halves(to)];
      code.call(multiplyPrime, low, a0, b0);
      code.call(multiplyPrime, high, a1, b1);
      code.call(multiplyDifferences, cross, a0, a1, b0, b1);
      code.call(addMultiple, to0, low, high);
      code.call(addLess, to1, low, high, cross);
    });
    return { multiply, multiplyPrime };
  }
}

/** Adds 1/(c0 + c1·u) = (c0 − c1·u) / (c0² − u²·c1²). */
const addInvert = (
  one: PairFunctions,
  prime: Readonly<Record<'multiply' | 'signed' | 'invert' | 'norm', number>>,
  { norm, square, minus }: Readonly<Record<'norm' | 'square' | 'minus', number>>,
): number =>
  one.define(['to', 'a'], (code, { to, a }) => {
    const [[c0, c1], [to0, to1]] = [code.halves(a), code.halves(to)];
    code.call(prime.multiply, [norm], c0, c0);
    code.call(prime.multiply, [square], c1, c1);
    code.call(prime.norm, [norm], [norm], [square]);
    code.call(prime.invert, [norm], [norm]);
    code.call(prime.multiply, to0, c0, [norm]);
    code.call(prime.multiply, [square], c1, [norm]);
    code.call(prime.signed, to1, [square], [minus]);
  });

export const quadraticElements = (at: PairModule, lanes: Lanes): Elements => {
  const { module, functions, memory } = at;
  const many = new PairFunctions(at, lanes);
  const products = many.products();
  const one = lanes === 1 ? many : new PairFunctions(at, 1);
  const productsOfOne = lanes === 1 ? products : one.products();
  const [work, zero] = [many.scratch(), many.scratch()];
  const plus = work.map(() => memory.plus);
  const less = many.prime(sumFormula({ a: 1, b: -1, c: -1 }));
  const difference = many.prime(signedDifference);
  const signed = functions.formula(1, signedFormula);
  const subtract = functions.formula(1, subtractFormula);
  const invert = functions.inverse(memory, signed);
  const isZero = functions.isZero();
  const norm = one.prime(sumFormula({ a: 1, b: -at.nonResidue }));
  const space = { norm: memory.take(functions.bytes), square: memory.take(functions.bytes), minus: memory.minus };
  const { multiply } = products;
  return {
    ...products,
    multiplyByKept: multiply,
    chain: many.define(['to', 'kept', 'a', 'b', 'c'], (code, { to, kept, a, b, c }) => {
      code.both(less, kept, b, c, zero);
      code.call(multiply, to, a, kept);
    }),
    slope: many.define(['to', 'a', 'b', 'sb', 'c', 'sc'], (code, { to, a, b, sb, c, sc }) => {
      code.both(difference, work, b, { sign: sb }, c, { sign: sc });
      code.call(multiply, to, a, work);
    }),
    abscissa: many.define(['to', 'slope', 'x1', 'x2'], (code, { to, slope, x1, x2 }) => {
      code.call(multiply, work, slope, slope);
      code.both(less, to, work, x1, x2);
    }),
    ordinate: many.define(['to', 'slope', 'x1', 'x3', 'y1', 's1'], (code, { to, slope, x1, x3, y1, s1 }) => {
      code.both(less, work, x1, x3, zero);
      code.call(multiply, work, slope, work);
      code.both(difference, to, work, { sign: plus }, y1, { sign: s1 });
    }),
    multiplyOne: productsOfOne.multiply,
    signedOne: one.define(['to', 'a', 's'], (code, { to, a, s }) => code.both(signed, to, a, { sign: s })),
    subtractOne: one.define(['to', 'a', 'b', 's'], (code, { to, a, b, s }) =>
      code.both(subtract, to, a, b, { sign: s }),
    ),
    conjugateOne: one.define(['to', 'a'], (code, { to, a }) => {
      for (const [c, sign] of [memory.plus, memory.minus].entries()) {
        code.call(signed, code.halves(to)[c] as Address[], code.halves(a)[c] as Address[], [sign]);
      }
    }),
    isZero: module.add(null, { parameters: ['i32'], result: 'i32' }, (code, a) => {
      for (const c of [0, functions.bytes]) code.call(isZero, [a, c]);
      code.do('i32.and');
    }),
    invert: addInvert(one, { multiply: productsOfOne.multiplyPrime, signed, invert, norm }, space),
  };
};
