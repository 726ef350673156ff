/**
 * Elements as words of 64 bits: sums, differences and Montgomery products by additions and products
 * of 128 bits (https://github.com/WebAssembly/wide-arithmetic).
 */
import { digitsOf, invert, mod, montgomeryFactor } from '../../field/modulus.js';
import { range } from '../../field/straight-line.js';
import type { Code, Local } from '../encoder/code.js';
import { WasmModule } from '../encoder/module.js';
import type { ElementMemory, FieldFunctions } from './elements.js';
import { type FieldFormat, wasmField } from './field-programs.js';
import type { Expression, Formula } from './formula.js';
import { addInverse } from './inverse.js';
import { pushBits } from './numbers.js';

/** Body of the function of a formula. */
class WordsFormula {
  readonly #writer: WordsCode;
  readonly #parameters: readonly string[];
  readonly #masks = new Map<string, Local>();

  constructor(writer: WordsCode, parameters: readonly string[]) {
    this.#writer = writer;
    this.#parameters = parameters;
  }

  address(name: string): Local {
    return this.#writer.code.parameter(this.#parameters.indexOf(name));
  }

  #mask(name: string): Local {
    const { code } = this.#writer;
    const known = this.#masks.get(name);
    if (known !== undefined) return known;
    const mask = code.local('i64');
    code.get(this.address(name)).at('i64.load32_s', 0).set(mask);
    this.#masks.set(name, mask);
    return mask;
  }

  #operand(name: string, sign: string | undefined): WordsNumber {
    const value = this.#writer.load(this.address(name));
    return sign === undefined ? value : this.#writer.signed(value, this.#mask(sign));
  }

  /** Returns a value from 0 to the bound, both inclusive. */
  value({ of, sign, less, lessSign }: Expression): WordsNumber {
    const value = this.#operand(of, sign);
    return less === undefined ? value : this.#writer.subtract(value, this.#operand(less, lessSign));
  }

  /** Returns a sum plus a multiple of a value, below the bound. */
  plus(sum: WordsNumber | null, expression: Expression, times: number): WordsNumber {
    const value = this.value(expression);
    const { sign, less } = expression;
    let result = sum;
    if (result === null && times === 1 && sign === undefined && less === undefined) return value;
    for (const _ of range(Math.abs(times))) {
      const before: WordsNumber = result ?? this.#writer.zero;
      result = times > 0 ? this.#writer.add(before, value) : this.#writer.subtract(before, value);
    }
    return result as WordsNumber;
  }
}

const addFormula = (module: WasmModule, field: WordsField, formula: Formula): number => {
  const { parameters, factors = [], plus = [], keeps } = formula;
  return module.add(null, { parameters: parameters.map(() => 'i32' as const) }, (code) => {
    const writer = new WordsCode(code, field);
    const body = new WordsFormula(writer, parameters);
    const values = factors.map((factor) => body.value(factor));
    const [a, b = a] = values;
    let result: WordsNumber | null = a === undefined || b === undefined ? null : writer.product(a, b);
    for (const [expression, times] of plus) result = body.plus(result, expression, times);
    // the result may overwrite an operand: all are loaded by now
    writer.store(body.address(parameters[0] as string), result as WordsNumber);
    if (keeps !== undefined) writer.store(body.address(keeps), values.at(-1) as WordsNumber);
  });
};

/** Writes `to` = ± the number between −2p and p whose digits are at `work`. */
const storeDigits = (
  code: Code,
  field: WordsField,
  digits: { readonly width: number; readonly limbs: number },
  to: Local,
  { work, sign }: { readonly work: number; readonly sign: number },
): void => {
  const writer = new WordsCode(code, field);
  const load = (at: number): Local => {
    const word = code.local('i64');
    code.i32(at).at('i64.load32_s', 0).set(word);
    return word;
  };
  const values = range(digits.limbs).map((i) => load(work + 4 * i));
  const { p, words } = field;
  const isNegative = code.local('i64');
  code.get(values.at(-1) as Local).i64(63);
  code.do('i64.shr_s').set(isNegative);
  // in two's complement, plus 2p if it is negative
  const number = range(words).map((i) => {
    const word = code.local('i64');
    pushBits(code, { values, width: digits.width }, { bit: 64 * i, count: 64, isTop: true });
    code.set(word);
    return word;
  });
  const positive = writer.addMasked(number, 2n * p, isNegative);
  // −0 is the bound
  writer.store(to, writer.within(writer.signed(writer.within(positive), load(sign))));
};

/** Adds (to, a): 1/a of an element that is not 0, by division steps (../arithmetic/inverse.ts). */
const addWordsInverse = (module: WasmModule, field: WordsField, memory: ElementMemory): number => {
  const { p, r } = field;
  const digits = wasmField(p, 1);
  const start = memory.words(digitsOf(mod(r * r, p), digits.width, digits.limbs));
  const [work, sign, source] = [memory.take(digits.bytes), memory.take(4), memory.take(digits.bytes)];
  const invert = addInverse(module, digits, { start, work, sign }, (code, to) =>
    storeDigits(code, field, digits, to, { work, sign }),
  );
  return module.add(null, { parameters: ['i32', 'i32'] }, (code, to, from) => {
    const words = [...new WordsCode(code, field).load(from), code.local('i64')];
    for (const i of range(digits.limbs)) {
      code.i32(source);
      const bits = { bit: i * digits.width, count: digits.width, isTop: i === digits.limbs - 1 };
      pushBits(code, { values: words, width: 64 }, bits);
      code.at('i64.store32', 4 * i);
    }
    code.get(to).i32(source).call(invert);
  });
};

/** Functions on elements of words. They have one lane. */
export const wordsFunctions = (module: WasmModule, field: WordsField): FieldFunctions => ({
  bytes: field.bytes,
  formula: (_, formula) => addFormula(module, field, formula),
  isZero: () =>
    module.add(null, { parameters: ['i32'], result: 'i32' }, (code) => {
      const writer = new WordsCode(code, field);
      writer.isZero(writer.load(code.parameter(0)));
    }),
  inverse: (memory) => addWordsInverse(module, field, memory),
  join: (wordBytes) =>
    module.add(null, { parameters: ['i32', 'i32'] }, (code, words, a) => {
      const writer = new WordsCode(code, field);
      const kept = code.local('i64');
      for (const [i, word] of writer.canonical(writer.load(a)).entries()) {
        code.get(words).get(word);
        code.at('i64.store32', 8 * i);
        if (8 * i + 4 >= wordBytes) continue;
        code.get(word).i64(32).do('i64.shr_u').set(kept);
        code.get(words).get(kept);
        code.at('i64.store32', 8 * i + 4);
      }
    }),
});

/** Returns whether the platform has additions and products of 128 bits. */
export const hasWideArithmetic = (): boolean => {
  const probe = new WasmModule();
  probe.add(null, { parameters: ['i64'] }, (code, x) => {
    code.get(x).get(x).do('i64.mul_wide_u').get(x).get(x).do('i64.add128', 'drop', 'drop');
  });
  return WebAssembly.validate(probe.bytes());
};

/** A prime field whose elements are integers in [0, `bound`), stored as they are. */
export interface WordsField extends FieldFormat {
  readonly kind: 'words';
  /** Words of 64 bits of an element. */
  readonly words: number;
  /** p, or 2p where a product of such elements is below 2p without a subtraction. */
  readonly bound: bigint;
}

/**
 * A product a·b·R⁻¹ is below p + a·b/R (Montgomery 1985): for a, b < 2p and R ≥ 4p, below 2p. The
 * sum after each word of a product is below a + p, so that it does not exceed R.
 */
export const wordsField = (p: bigint): WordsField => {
  const words = Math.ceil((p.toString(2).length + 1) / 64);
  const R = 1n << BigInt(64 * words);
  return {
    ...{ kind: 'words', p, width: 32, limbs: 2 * words, words, bytes: 8 * words },
    ...{ r: R % p, rInverse: invert(R, p), bound: R >= 4n * p ? 2n * p : p },
  };
};

/** Returns the words of 64 bits of a number, least significant first. */
const wordsOf64 = ({ words }: WordsField, value: bigint): bigint[] =>
  range(words).map((i) => BigInt.asUintN(64, value >> BigInt(64 * i)));

/** A number: a word is a local or a constant. */
type WordsNumber = readonly (Local | bigint)[];

class WordsCode {
  readonly code: Code;
  readonly #field: WordsField;
  readonly #p: WordsNumber;
  readonly #bound: WordsNumber;
  readonly #n0: bigint;

  constructor(code: Code, field: WordsField) {
    this.code = code;
    this.#field = field;
    this.#p = wordsOf64(field, field.p);
    this.#bound = wordsOf64(field, field.bound);
    this.#n0 = montgomeryFactor(field.p, 64);
  }

  get zero(): WordsNumber {
    return wordsOf64(this.#field, 0n);
  }

  #word(): Local {
    return this.code.local('i64');
  }

  #push(word: Local | bigint): Code {
    return typeof word === 'bigint' ? this.code.i64(word) : this.code.get(word);
  }

  load(at: Local): Local[] {
    return range(this.#field.words).map((i) => {
      const word = this.#word();
      this.code.get(at).at('i64.load', 8 * i);
      this.code.set(word);
      return word;
    });
  }

  store(to: Local, value: WordsNumber): void {
    for (const [i, word] of value.entries()) {
      this.code.get(to);
      this.#push(word).at('i64.store', 8 * i);
    }
  }

  /**
   * Adds or subtracts word by word.
   *
   * @param carried carry of 0 or 1 into the lowest word, or borrow of 0 or −1; null for 0
   * @returns the words, and the carry or borrow out of the highest
   */
  #chain(
    how: 'i64.add128' | 'i64.sub128',
    a: WordsNumber,
    b: WordsNumber,
    carried: Local | null = null,
  ): { readonly words: Local[]; readonly out: Local } {
    const { code } = this;
    const out = this.#word();
    const words = a.map((word, i) => {
      const sum = this.#word();
      this.#push(word).i64(0);
      this.#push(b[i] as Local | bigint)
        .i64(0)
        .do(how);
      const before = i === 0 ? carried : out;
      if (before !== null) {
        code.get(before);
        // a borrow has its sign in the upper word
        if (how === 'i64.sub128') code.get(before);
        else code.i64(0);
        code.do('i64.add128');
      }
      code.set(out).set(sum);
      return sum;
    });
    return { words, out };
  }

  /** Returns a where the mask is 0, and b where it is −1. */
  #select(mask: Local, a: WordsNumber, b: WordsNumber): Local[] {
    return a.map((word, i) => {
      const chosen = this.#word();
      this.#push(b[i] as Local | bigint);
      this.#push(word).get(mask).do('i64.eqz', 'i32.eqz', 'select').set(chosen);
      return chosen;
    });
  }

  /** Returns a less `limit` if it is not below. */
  #subtractOnce(a: WordsNumber, limit: WordsNumber): Local[] {
    const { words, out } = this.#chain('i64.sub128', a, limit);
    return this.#select(out, words, a);
  }

  /** Returns (a + b) within the bound, for numbers whose sum is at most twice the bound. */
  add(a: WordsNumber, b: WordsNumber): Local[] {
    return this.within(this.#chain('i64.add128', a, b).words);
  }

  /** Returns (a − b) plus the bound if it is negative. */
  subtract(a: WordsNumber, b: WordsNumber): Local[] {
    const { words, out } = this.#chain('i64.sub128', a, b);
    return this.addMasked(words, this.#field.bound, out);
  }

  /** Returns a, or a + b mod R where the mask is −1. */
  addMasked(a: WordsNumber, b: bigint, mask: Local): Local[] {
    const masked = wordsOf64(this.#field, b).map((word) => {
      const kept = this.#word();
      this.#push(word).get(mask).do('i64.and').set(kept);
      return kept;
    });
    return this.#chain('i64.add128', a, masked).words;
  }

  /** Returns a number up to twice the bound, less the bound if it is not below. */
  within(a: WordsNumber): Local[] {
    return this.#subtractOnce(a, this.#bound);
  }

  /** Returns the number below p that a number within the bound is. */
  canonical(a: WordsNumber): Local[] {
    return this.#subtractOnce(this.within(a), this.#p);
  }

  /** Returns a, or the bound less a where the mask is −1. */
  signed(a: WordsNumber, mask: Local): Local[] {
    const { code } = this;
    const [flipped, masked] = [a, this.#bound].map((words, k) =>
      words.map((word) => {
        const kept = this.#word();
        this.#push(word)
          .get(mask)
          .do(k === 0 ? 'i64.xor' : 'i64.and')
          .set(kept);
        return kept;
      }),
    ) as [Local[], Local[]];
    const one = this.#word();
    code.i64(0).get(mask).do('i64.sub').set(one);
    return this.#chain('i64.add128', flipped, masked, one).words;
  }

  /** Leaves x·y plus some words, as 128 bits. */
  #multiplyAdd(x: Local | bigint, y: Local | bigint, addends: readonly Local[]): Code {
    this.#push(x);
    this.#push(y).do('i64.mul_wide_u');
    for (const addend of addends) this.code.get(addend).i64(0).do('i64.add128');
    return this.code;
  }

  /**
   * Returns a·b·R⁻¹ within the bound, by operand scanning with interleaved reduction (CIOS; Koç,
   * Acar, Kaliski 1996).
   */
  product(a: WordsNumber, b: WordsNumber): Local[] {
    const { code } = this;
    const { words, bound, p } = this.#field;
    const t = range(words).map(() => this.#word());
    const { carry, other, multiple } = code.named('i64', 'carry', 'other', 'multiple');
    const word = (i: number): Local => t[i] as Local;
    for (const i of range(words)) {
      const factor = b[i] as Local | bigint;
      const sofar = (j: number): Local[] => (i === 0 ? [] : [word(j)]);
      this.#multiplyAdd(a[0] as Local, factor, sofar(0))
        .set(carry)
        .set(word(0));
      code.get(word(0)).i64(this.#n0).do('i64.mul').set(multiple);
      // the lowest word becomes 0
      this.#multiplyAdd(multiple, this.#p[0] as bigint, [word(0)]).set(other);
      code.do('drop');
      for (const j of range(words).slice(1)) {
        this.#multiplyAdd(a[j] as Local, factor, [...sofar(j), carry])
          .set(carry)
          .set(word(j));
        this.#multiplyAdd(multiple, this.#p[j] as bigint, [word(j), other])
          .set(other)
          .set(word(j - 1));
      }
      code.get(carry).get(other).do('i64.add');
      code.set(word(words - 1));
    }
    return bound === p ? this.#subtractOnce(t, this.#p) : t;
  }

  /** Leaves whether a number within the bound is 0 modulo p. */
  isZero(a: WordsNumber): void {
    const { code } = this;
    const { bound, p } = this.#field;
    const isEqual = (to: WordsNumber): void => {
      for (const [i, word] of a.entries()) {
        this.#push(word);
        this.#push(to[i] as bigint).do('i64.xor');
        if (i > 0) code.do('i64.or');
      }
      code.do('i64.eqz');
    };
    isEqual(this.zero);
    if (bound === p) return;
    isEqual(this.#p);
    code.do('i32.or');
  }
}
