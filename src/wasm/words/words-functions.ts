/** Functions on elements in words of 64 bits. */
import { digitsOf, mod } from '../../field/modulus.js';
import { range } from '../../field/straight-line.js';
import type { ElementMemory, FieldFunctions } from '../arithmetic/elements.js';
import { wasmField } from '../arithmetic/field-programs.js';
import type { Expression, Formula } from '../arithmetic/formula.js';
import { addInverse } from '../arithmetic/inverse.js';
import { pushBits } from '../arithmetic/push-bits.js';
import type { Code, Local } from '../encoder/code.js';
import { WasmModule } from '../encoder/module.js';
import { WordsCode, type WordsNumber } from './words-code.js';
import type { WordsField } from './words-field.js';

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

/** Writes `to` = ± the number between −2p and p whose digits are at `from`. */
const storeDigits = (
  code: Code,
  field: WordsField,
  digits: { readonly width: number; readonly limbs: number },
  to: Local,
  from: number,
  sign: number,
): void => {
  const writer = new WordsCode(code, field);
  const load = (at: number): Local => {
    const word = code.local('i64');
    code.i32(at).at('i64.load32_s', 0).set(word);
    return word;
  };
  const values = range(digits.limbs).map((i) => load(from + 4 * i));
  const { p, words } = field;
  const isNegative = code.local('i64');
  code
    .get(values.at(-1) as Local)
    .i64(63)
    .do('i64.shr_s')
    .set(isNegative);
  // in two's complement, plus 2p if it is negative
  const number = range(words).map((i) => {
    const word = code.local('i64');
    pushBits(code, values, digits.width, 64 * i, 64, true);
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
    storeDigits(code, field, digits, to, work, sign),
  );
  return module.add(null, { parameters: ['i32', 'i32'] }, (code) => {
    const [to, from] = [code.parameter(0), code.parameter(1)];
    const words = [...new WordsCode(code, field).load(from), code.local('i64')];
    for (const i of range(digits.limbs)) {
      code.i32(source);
      pushBits(code, words, 64, i * digits.width, digits.width, i === digits.limbs - 1);
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
});

/** Returns whether the platform has additions and products of 128 bits. */
export const hasWideArithmetic = (): boolean => {
  const probe = new WasmModule();
  probe.add(null, { parameters: ['i64'] }, (code) => {
    const x = code.parameter(0);
    code.get(x).get(x).do('i64.mul_wide_u').get(x).get(x).do('i64.add128', 'drop', 'drop');
  });
  return WebAssembly.validate(probe.bytes());
};
