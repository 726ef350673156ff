/** Functions that decoders share: products, powers and square roots of numbers and of pairs. */

import { invert, mod } from '../../field/modulus.js';
import { ODD_POWERS, oddPartOf, type PowerStep, power, powerSteps, squareRoot } from '../../field/powers.js';
import { range } from '../../field/straight-line.js';
import { toMontgomery, type WasmField } from '../arithmetic/field-programs.js';
import { addFormula, addIsZero, type Formula, type Lanes, plainProduct, sumFormula } from '../arithmetic/formula.js';
import { copyElement, type KernelMemory, type WasmCurve } from '../arithmetic/kernel-memory.js';
import { type Address, addressPlus, type Code, type Local } from '../encoder/code.js';
import type { WasmModule } from '../encoder/module.js';

/* Values that the functions of a decoder share while they are written. */

/** A number of the prime field in each lane: their addresses. */
export type Numbers = readonly Address[];

const square: Formula = { parameters: ['to', 'a'], factors: [{ of: 'a' }] };

/** Indices of functions of the prime field. All but the last take each parameter once per lane. */
interface PrimeFunctions {
  /** (to, a, b): a·b. */
  readonly multiply: number;
  /** (to, a): a². */
  readonly square: number;
  /** (to, a, b): a + b. */
  readonly add: number;
  /** (to, a, b): a − b. */
  readonly subtract: number;
  /** (a): whether a reduced number is 0. */
  readonly isZero: number;
}

export class DecoderParts {
  readonly module: WasmModule;
  readonly curve: WasmCurve;
  readonly field: WasmField;
  readonly lanes: Lanes;
  readonly memory: KernelMemory;
  readonly functions: PrimeFunctions;

  constructor(module: WasmModule, curve: WasmCurve, lanes: Lanes, memory: KernelMemory) {
    this.module = module;
    this.curve = curve;
    this.field = curve.field;
    this.lanes = lanes;
    this.memory = memory;
    const add = (formula: Formula): number => addFormula(module, curve.field, lanes, formula);
    this.functions = {
      multiply: add(plainProduct),
      square: add(square),
      add: add(sumFormula({ a: 1, b: 1 })),
      subtract: add(sumFormula({ a: 1, b: -1 })),
      isZero: addIsZero(module, curve.field),
    };
  }

  /** Reserves `count` consecutive numbers in each lane. */
  take(count = 1): number[] {
    return range(this.lanes).map(() => this.memory.take(count * this.field.bytes));
  }

  /** Returns the address of a number that all lanes share. */
  shared(at: Address): Numbers {
    return range(this.lanes).map(() => at);
  }

  /** Returns a constant, in Montgomery form. */
  constant(value: bigint): Numbers {
    return this.shared(this.memory.montgomery(value));
  }

  call(code: Code, name: keyof PrimeFunctions, ...numbers: readonly Numbers[]): void {
    code.call(this.functions[name], ...numbers.flat());
  }

  /** Leaves whether the number in one lane is 0. */
  isZero(code: Code, at: Address): void {
    code.call(this.functions.isZero, at);
  }
}

/** Returns the addresses `bytes` further on. */
export const numbersPlus = (numbers: Numbers, bytes: number): Numbers =>
  numbers.map((address) => addressPlus(address, bytes));

/* Square roots in the prime field and in a field of pairs. */

/** A coordinate in each lane: its coefficients, c0 first. */
export type Coefficients = readonly Numbers[];

/** Writes code that computes a root; if there is none, other numbers. */
type WriteRoot = (code: Code, to: Coefficients, square: Coefficients) => void;

/** Returns a number without a square root in the prime field. */
const nonSquareOf = (p: bigint): bigint => {
  for (let candidate = 2n; ; candidate++) if (squareRoot(candidate, p) === null) return candidate;
};

const rootConstants = (p: bigint, nonResidue: bigint | null): RootConstants => ({
  ...oddPartOf(p - 1n),
  nonSquare: mod(nonResidue ?? nonSquareOf(p), p),
});

/** Functions for v to w = 1/√v. A caller writes v, and calls both. */
class InverseRoot {
  readonly v: readonly number[];
  readonly w: readonly number[];
  readonly #power: Power;
  readonly #digits: number | null;

  constructor(parts: DecoderParts, constants: RootConstants) {
    const { odd, twos } = constants;
    this.#power = addPower(parts, (odd - 1n) / 2n);
    this.v = this.#power.base;
    this.w = this.#power.result;
    this.#digits = twos === 1 ? null : addRootDigits(parts, constants, this.v, this.w);
  }

  /** Writes w = v^((odd − 1)/2). */
  begin(code: Code): void {
    code.call(this.#power.index);
  }

  /** Multiplies w, so that v·w² = 1 if v is a square. */
  end(code: Code): void {
    if (this.#digits !== null) code.call(this.#digits);
  }
}

const primeRoot = (parts: DecoderParts): WriteRoot => {
  const root = new InverseRoot(parts, rootConstants(parts.field.p, null));
  return (code, [to], [square]) => {
    for (const [lane, at] of root.v.entries()) copyElement(code, at, square?.[lane] as Address, parts.field.bytes);
    root.begin(code);
    root.end(code);
    parts.call(code, 'multiply', to as Numbers, root.v, root.w);
  };
};

/**
 * The complex method (src/field/powers.ts) without inversions. n is a root of the norm of c0 +
 * c1·u, and t = (c0 + n) / 2. If t is a square s², a root is s + c1/(2s)·u. Otherwise b·t with b =
 * u² is a square s², and a root is c1·b/(2s) + (s/b)·u.
 */
class PairRoot {
  readonly #parts: DecoderParts;
  readonly #constants: RootConstants;
  readonly #root: InverseRoot;
  /** Function that multiplies v by u² if it is no square, and adjusts w. */
  readonly #adjust: number;
  /** Whether v was a square, in each lane. */
  readonly #isSquare: readonly number[];
  readonly #work: readonly number[];
  readonly #half: Numbers;
  readonly #nonSquare: number;
  readonly #inverse: number;

  constructor(parts: DecoderParts) {
    const { field, memory } = parts;
    const { p } = field;
    this.#parts = parts;
    this.#constants = rootConstants(p, parts.curve.nonResidue);
    const { nonSquare } = this.#constants;
    this.#root = new InverseRoot(parts, this.#constants);
    this.#isSquare = range(parts.lanes).map(() => memory.take(4));
    this.#work = parts.take();
    this.#half = parts.constant(invert(2n, p));
    this.#nonSquare = memory.montgomery(nonSquare);
    this.#inverse = memory.montgomery(invert(nonSquare, p));
    this.#adjust = this.#addAdjust();
  }

  #addAdjust(): number {
    const parts = this.#parts;
    const { p } = parts.field;
    const { odd, twos, nonSquare } = this.#constants;
    const { v, w } = this.#root;
    const work = this.#work;
    const { one } = parts.memory;
    const factor = parts.memory.montgomery(power(nonSquare, (odd - 1n) / 2n, p));
    return parts.module.add(null, { parameters: [] }, (code) => {
      parts.call(code, 'square', work, w);
      parts.call(code, 'multiply', work, work, v);
      if (twos > 1) {
        const left = code.local('i32');
        code.i32(twos - 1).set(left);
        code.countDown(left, () => {
          parts.call(code, 'square', work, work);
        });
      }
      // v to the power of (p − 1)/2 is 1 or −1, or 0 for 0
      parts.call(code, 'subtract', work, work, parts.shared(one));
      for (const [lane, at] of this.#isSquare.entries()) {
        code.i32(at);
        parts.isZero(code, work[lane] as number);
        code.at('i32.store', 0);
      }
      parts.call(code, 'multiply', v, v, this.#chosen(code, one, this.#nonSquare));
      parts.call(code, 'multiply', w, w, this.#chosen(code, one, factor));
    });
  }

  /** Sets a local in each lane to one address where v was a square, or to another. */
  #chosen(code: Code, square: number, other: number): Local[] {
    return this.#isSquare.map((at) => {
      const local = code.local('i32');
      code.i32(square).i32(other).i32(at).at('i32.load', 0).do('select').set(local);
      return local;
    });
  }

  /** Writes v = (c0 + n) / 2; where that is 0, (c0 − n) / 2 = c0. */
  #writeHalf(code: Code, c0: Numbers): void {
    const parts = this.#parts;
    const { v, w } = this.#root;
    const work = this.#work;
    parts.call(code, 'multiply', work, v, w);
    parts.call(code, 'add', work, work, c0);
    for (const [lane, at] of work.entries()) {
      parts.isZero(code, at);
      code.if(() => {
        copyElement(code, at, c0[lane] as number, parts.field.bytes);
        parts.call(code, 'add', parts.shared(at), parts.shared(at), parts.shared(at));
      });
    }
    parts.call(code, 'multiply', v, work, this.#half);
  }

  write(code: Code, to: Coefficients, square: Coefficients): void {
    const parts = this.#parts;
    const { v, w } = this.#root;
    const work = this.#work;
    const [c0, c1] = square as [Numbers, Numbers];
    const [to0, to1] = to as [number[], number[]];
    // the norm c0² − u²·c1²
    parts.call(code, 'square', work, c1);
    parts.call(code, 'multiply', work, work, parts.shared(this.#nonSquare));
    parts.call(code, 'square', v, c0);
    parts.call(code, 'subtract', v, v, work);
    this.#root.begin(code);
    this.#root.end(code);
    this.#writeHalf(code, c0);
    this.#root.begin(code);
    code.call(this.#adjust);
    this.#root.end(code);
    const { one } = parts.memory;
    parts.call(code, 'multiply', work, c1, w);
    parts.call(code, 'multiply', work, work, this.#half);
    parts.call(code, 'multiply', v, v, w);
    const first = range(parts.lanes).map((lane) => this.#target(code, lane, to0, to1));
    const second = range(parts.lanes).map((lane) => this.#target(code, lane, to1, to0));
    parts.call(code, 'multiply', first, v, this.#chosen(code, one, this.#inverse));
    parts.call(code, 'multiply', second, work, this.#chosen(code, one, this.#nonSquare));
  }

  #target(code: Code, lane: number, square: readonly number[], other: readonly number[]): Local {
    const local = code.local('i32');
    code.i32(square[lane] as number).i32(other[lane] as number);
    code.i32(this.#isSquare[lane] as number).at('i32.load', 0);
    code.do('select').set(local);
    return local;
  }
}

export const rootWriter = (parts: DecoderParts): WriteRoot => {
  if (parts.curve.nonResidue === null) return primeRoot(parts);
  const root = new PairRoot(parts);
  return (code, to, square) => root.write(code, to, square);
};

/*
 * The 2-power part of a square root: with p − 1 = odd · 2^twos and v·w² = g^e, where g has the
 * order 2^twos, w·g^(−e/2) is 1 over a root of v. Digits of e are found least significant first,
 * from powers of g^e that are computed once, and tables of powers of g. Source: Bernstein's
 * method as Sarkar describes it, "Computing square roots faster than the Tonelli–Shanks/Bernstein
 * algorithm", https://eprint.iacr.org/2020/1407.
 */

/** Bits of a digit at most. */
const DIGIT_BITS = 5;

/** A prime as p − 1 = odd · 2^twos, and a number that is no square. */
interface RootConstants {
  readonly odd: bigint;
  readonly twos: number;
  readonly nonSquare: bigint;
}

/** Sizes and tables. */
interface DigitTables {
  readonly bits: number;
  readonly count: number;
  /** Address of the lowest limbs of g^(D·2^(twos − bits)), by D. */
  readonly lows: number;
  /** Address of rows m = 1 to count of g^(−D·2^(twos − bits·m − 1)), by D. */
  readonly rows: number;
  readonly rowBytes: number;
}

/** Writes the tables. The lowest digit is a multiple of 2^padding: e is shifted by as much. */
const writeTables = ({ field, memory }: DecoderParts, { odd, twos, nonSquare }: RootConstants): DigitTables => {
  const { p, width, bytes } = field;
  const bits = Math.min(DIGIT_BITS, twos);
  const count = Math.ceil(twos / bits);
  const size = 2 ** bits;
  const g = power(nonSquare, odd, p);
  const inverse = power(g, (1n << BigInt(twos)) - 1n, p);
  const powersOf = (base: bigint): bigint[] => {
    const powers = [1n];
    while (powers.length < size) powers.push(mod((powers.at(-1) as bigint) * base, p));
    return powers;
  };
  const limb = (1n << BigInt(width)) - 1n;
  const lowest = powersOf(power(g, 1n << BigInt(twos - bits), p)).map((value) =>
    Number(toMontgomery(field, value) & limb),
  );
  const lows = memory.words(lowest);
  const rows = range(count).map((i): bigint[] => {
    const shift = twos - bits * (i + 1) - 1;
    if (shift >= 0) return powersOf(power(inverse, 1n << BigInt(shift), p));
    // an odd e has no half: any value, as there is no root then
    const step = 2 ** -shift;
    const powers = powersOf(inverse);
    return range(size).map((D) => powers[Math.floor(D / step)] as bigint);
  });
  const at = memory.constant(...rows.flat().map((value) => toMontgomery(field, value)));
  return { bits, count, lows, rows: at, rowBytes: size * bytes };
};

/** Adds a function that returns D·bytes for an element g^(D·2^(twos − bits)); 0 for others. */
const addLookUp = ({ module, field }: DecoderParts, { lows, bits }: DigitTables): number => {
  const limb = 2 ** field.width;
  const lowOfP = Number(field.p % BigInt(limb));
  return module.add(null, { parameters: ['i32'], result: 'i32' }, (code) => {
    const { low, D, apart } = code.named('i32', 'low', 'D', 'apart');
    code.get(code.parameter(0)).at('i32.load', 0).set(low);
    code.loop((next) => {
      code.get(low).get(D).i32(2).do('i32.shl').at('i32.load', lows).do('i32.sub');
      code.i32(limb - 1).do('i32.and');
      code.tee(apart).do('i32.eqz');
      // an element may be stored with a difference of p
      for (const other of [lowOfP, limb - lowOfP]) code.get(apart).i32(other).do('i32.eq', 'i32.or');
      code.if(() => code.get(D).i32(field.bytes).do('i32.mul', 'return'));
      code.push([D, 1]).tee(D);
      code.i32(2 ** bits).do('i32.ne');
      next();
    });
    code.i32(0);
  });
};

/** Writes the function, part by part. */
class DigitWriter {
  readonly #parts: DecoderParts;
  readonly #tables: DigitTables;
  /** g^e to powers of 2^bits, the lowest power last. */
  readonly #powers: readonly number[];
  /** Digits found, times the bytes of a number, in each lane. */
  readonly #digits: readonly number[];
  readonly #product: readonly number[];

  constructor(parts: DecoderParts, tables: DigitTables) {
    this.#parts = parts;
    this.#tables = tables;
    this.#powers = parts.take(tables.count);
    this.#digits = range(parts.lanes).map(() => parts.memory.take(4 * tables.count));
    this.#product = parts.take();
  }

  /** Writes x_i = (v·w²)^(2^(bits·(count − 1 − i))) for all i. */
  writePowers(code: Code, v: Numbers, w: Numbers): void {
    const parts = this.#parts;
    const { bits, count } = this.#tables;
    const { bytes } = parts.field;
    const { at, squares } = code.named('i32', 'at', 'squares');
    const last = numbersPlus(this.#powers, (count - 1) * bytes);
    parts.call(code, 'multiply', last, v, w);
    parts.call(code, 'multiply', last, last, w);
    if (count === 1) return;
    code.i32((count - 2) * bytes).set(at);
    code.loop((next) => {
      const target = entryOf(this.#powers, at);
      parts.call(code, 'square', target, numbersPlus(target, bytes));
      code.i32(bits - 1).set(squares);
      code.countDown(squares, () => {
        parts.call(code, 'square', target, target);
      });
      code.get(at).i32(bytes).do('i32.sub').tee(at).i32(-bytes).do('i32.ne');
      next();
    });
  }

  /** Writes the product over j < `end`/4 of row `first` − j at digit j. */
  #writeProduct(code: Code, { row, j, end }: { readonly row: Local; readonly j: Local; readonly end: Local }): void {
    const parts = this.#parts;
    const { rowBytes } = this.#tables;
    const entry = range(parts.lanes).map(() => code.local('i32'));
    for (const at of this.#product) copyElement(code, at, parts.memory.one, parts.field.bytes);
    code.i32(0).set(j);
    code.block((leave) => {
      code.loop((next) => {
        code.get(j).get(end).do('i32.eq');
        leave();
        for (const [lane, local] of entry.entries()) {
          code.get(j).at('i32.load', this.#digits[lane] as number);
          code.get(row).do('i32.add').set(local);
        }
        parts.call(code, 'multiply', this.#product, this.#product, entry);
        code.get(row).i32(rowBytes).do('i32.sub').set(row);
        code.get(j).i32(4).do('i32.add').set(j).i32(1);
        next();
      });
    });
  }

  /** Writes the digits, and multiplies w by g^(−e/2). */
  writeDigits(code: Code, lookUp: number, w: Numbers): void {
    const parts = this.#parts;
    const { count, rows, rowBytes } = this.#tables;
    const { i, at } = code.named('i32', 'i', 'at');
    const locals = code.named('i32', 'row', 'j', 'end');
    const setRow = (): void => {
      code.get(i).i32(rowBytes).do('i32.mul').i32(rows).do('i32.add').set(locals.row);
    };
    code.i32(0).set(i);
    code.loop((next) => {
      // rows begin with row 1, so row i + 1 is the i-th
      setRow();
      code.get(i).i32(2).do('i32.shl').set(locals.end);
      this.#writeProduct(code, locals);
      parts.call(code, 'square', this.#product, this.#product);
      code.get(i).i32(parts.field.bytes).do('i32.mul').set(at);
      parts.call(code, 'multiply', this.#product, this.#product, entryOf(this.#powers, at));
      for (const [lane, digits] of this.#digits.entries()) {
        code.get(locals.end).i32(this.#product[lane] as number);
        code.call(lookUp).at('i32.store', digits);
      }
      code.get(i).i32(1).do('i32.add').tee(i).i32(count).do('i32.ne');
      next();
    });
    code.i32(count - 1).set(i);
    setRow();
    code.i32(4 * count).set(locals.end);
    this.#writeProduct(code, locals);
    parts.call(code, 'multiply', w, w, this.#product);
  }
}

/**
 * Adds the function without parameters that multiplies w by g^(−e/2), where v·w² = g^e. If v is no
 * square, w is of no meaning.
 */
const addRootDigits = (parts: DecoderParts, constants: RootConstants, v: Numbers, w: Numbers): number => {
  const tables = writeTables(parts, constants);
  const lookUp = addLookUp(parts, tables);
  const writer = new DigitWriter(parts, tables);
  return parts.module.add(null, { parameters: [] }, (code) => {
    writer.writePowers(code, v, w);
    writer.writeDigits(code, lookUp, w);
  });
};

/* Powers with a fixed exponent, by sliding windows. */

/** A function without parameters, and the addresses that it reads and writes. */
interface Power {
  readonly index: number;
  readonly base: readonly number[];
  readonly result: readonly number[];
}

/** Adds the function that computes base^exponent in every lane, with an exponent of at least 1. */
const addPower = (parts: DecoderParts, exponent: bigint): Power => {
  const { module, memory } = parts;
  const { bytes } = parts.field;
  const odds = parts.take(ODD_POWERS);
  const result = parts.take();
  const [first, ...steps] = powerSteps(exponent) as [PowerStep, ...PowerStep[]];
  const begin = memory.words(steps.flatMap(({ squares, odd }) => [squares, odd === null ? -1 : odd * bytes]));
  const end = memory.end;
  const index = module.add(null, { parameters: [] }, (code) => {
    const { step, squares, odd } = code.named('i32', 'step', 'squares', 'odd');
    parts.call(code, 'square', result, odds);
    for (const i of range(ODD_POWERS).slice(1)) {
      parts.call(code, 'multiply', numbersPlus(odds, i * bytes), numbersPlus(odds, (i - 1) * bytes), result);
    }
    for (const [lane, at] of odds.entries()) {
      copyElement(code, result[lane] as number, at + (first.odd as number) * bytes, bytes);
    }
    if (steps.length === 0) return;
    code.i32(begin).set(step);
    code.loop((next) => {
      code.get(step).at('i32.load', 0).set(squares);
      code.countDown(squares, () => {
        parts.call(code, 'square', result, result);
      });
      code.get(step).at('i32.load', 4).tee(odd).i32(-1).do('i32.ne');
      code.if(() => parts.call(code, 'multiply', result, result, entryOf(odds, odd)));
      code.get(step).i32(8).do('i32.add').tee(step).i32(end).do('i32.lt_u');
      next();
    });
  });
  return { index, base: odds, result };
};

/** Returns the addresses `offset` bytes from numbers at constant addresses. */
const entryOf = (numbers: readonly number[], offset: Local): Numbers => numbers.map((at) => [offset, at]);
