/** Montgomery products of numbers in words, four bytes at a time: by DP4A and its like, which WGSL calls dot4U8Packed. */
import { digitsOf, lazyLimbs, type Modulus, montgomeryFactor } from './modulus.js';
import { roughRows } from './product-unsigned.js';
import { range } from './straight-line.js';
import {
  above,
  dot4,
  input,
  joined,
  left,
  low,
  masked,
  number,
  sum,
  sumLow,
  timesLow,
  type Word,
  WordLine,
  type WordProgram,
} from './word-line.js';

/** The bytes k − 3 to k of a number, the last one first. */
const windowOf = (bytes: readonly number[], k: number): number =>
  [3, 2, 1, 0].reduce((window, i) => window * 256 + (bytes[k - i] ?? 0), 0);

/**
 * a·b/R below 2p, for a and b below 2p, as R is at least 4p. Rows of four bytes: column k of one word times all of b is Σ a_i·b_(k − i), i = 0 … 3,
 * one dot product with the *window* of b's bytes k … k − 3, in this order. The windows, as many as there are columns, are made once: every
 * fourth is a word of b with its bytes turned around, and those between are cut out of two of these. Those of p are constants.
 *
 * Montgomery's digit is a word, and reduces as in src/field/product-unsigned.ts.
 *
 * A column takes in two dot products a row, each at most 4·255² < 2^18; for 13 words, as 414 bits take, less than 2^22.7. A column and 2^8 times
 * the next, with a carry, are below 2^31.
 */
export const dot4Product = (m: Modulus): WordProgram => {
  const program = new WordLine();
  const words = lazyLimbs(m, 32);
  // those that the bytes of a word take part in: those of the other operand, and three more
  const columnCount = 4 * words + 3;
  const [a, b] = ['a', 'b'].map((name) => range(words).map((i) => input(`${name}.w${i}`))) as [Word[], Word[]];
  // the bytes the other way round: halves first, then those of each half
  const turned = b.map((word, i) => {
    const pairs = program.let(`pairs${i}`, joined(above(word, 16), left(word, 16)));
    return program.let(`turned${i}`, joined(masked(above(pairs, 8), 0x00ff00ff), left(masked(pairs, 0x00ff00ff), 8)));
  });
  const windows = range(columnCount).map((k) => {
    const [word, shift] = [Math.floor(k / 4), 8 * (3 - (k % 4))];
    const [here, below] = [turned[word] ?? number(0), turned[word - 1] ?? number(0)];
    return program.let(`window${k}`, shift === 0 ? here : joined(above(here, shift), left(below, 32 - shift)));
  });

  const n0 = montgomeryFactor(m.p, 32);
  const p = digitsOf(m.p, 8, 4 * words);
  const multiple = digitsOf((m.p * n0 + 1n) >> 32n, 8, 4 * words);

  /** A word out of four columns and a carry, and the carry out of it. */
  const word = (name: string, columns: readonly Word[], carry: Word): { readonly word: Word; readonly carry: Word } => {
    const [c0, c1, c2, c3] = range(4).map((k) => columns[k] ?? number(0)) as [Word, Word, Word, Word];
    const bottom = program.let(`${name}l`, sum(c0, left(c1, 8), carry));
    const top = program.let(`${name}h`, sum(c2, left(c3, 8), above(bottom, 16)));
    return { word: joined(low(bottom, 16), left(top, 16)), carry: above(top, 16) };
  };

  let columns: Word[] = [];
  let carry = number(0);
  for (const i of range(words)) {
    const at = (k: number): Word => columns[k] ?? number(0);
    const whole = range(columnCount).map((k) =>
      program.let(`x${i}_${k}`, sum(at(k), k === 0 ? carry : number(0), dot4(a[i] as Word, windows[k] as Word))),
    );
    if (i < roughRows(m, words)) {
      const lowest = word(`e${i}`, whole, number(0));
      const q = program.let(`q${i}`, lowest.word);
      carry = lowest.carry;
      columns = range(columnCount).map((k) =>
        program.let(`y${i}_${k}`, sum(whole[k + 4] ?? number(0), dot4(q, windowOf(multiple, k)))),
      );
    } else {
      // modulo 2^32, so that what is above does not matter
      const [c0, c1, c2, c3] = whole as [Word, Word, Word, Word];
      const u = program.let(`u${i}`, sumLow(c0, left(c1, 8), left(c2, 16), left(c3, 24)));
      const q = program.let(`q${i}`, timesLow(u, Number(n0)));
      const reduced = range(columnCount).map((k) =>
        program.let(`y${i}_${k}`, sum(whole[k] as Word, dot4(q, windowOf(p, k)))),
      );
      carry = word(`e${i}`, reduced, number(0)).carry;
      columns = reduced.slice(4);
    }
  }
  const result = range(words).map((i) => {
    const next = word(`r${i}`, columns.slice(4 * i, 4 * i + 4), carry);
    carry = next.carry;
    return next.word;
  });
  return { program, result };
};
