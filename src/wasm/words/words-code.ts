/**
 * Sums, differences and Montgomery products of numbers in words of 64 bits, by additions and
 * products of 128 bits (https://github.com/WebAssembly/wide-arithmetic).
 */
import { montgomeryFactor } from '../../field/modulus.js';
import { range } from '../../field/straight-line.js';
import type { Code, Local } from '../encoder/code.js';
import { type WordsField, wordsOf64 } from './words-field.js';

/** A number: a word is a local or a constant. */
export type WordsNumber = readonly (Local | bigint)[];

export class WordsCode {
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
      this.code
        .get(at)
        .at('i64.load', 8 * i)
        .set(word);
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
      code
        .get(carry)
        .get(other)
        .do('i64.add')
        .set(word(words - 1));
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
