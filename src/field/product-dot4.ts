/**
 * Montgomery products of numbers in words, four bytes at a time, by instructions like DP4A
 * (dot4U8Packed in WGSL).
 */
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

/** Returns the bytes k to k − 3 of a number as a word, byte k lowest. */
const windowOf = (bytes: readonly number[], k: number): number =>
  [3, 2, 1, 0].reduce((window, i) => window * 256 + (bytes[k - i] ?? 0), 0);

/** Names the window of the bytes k … k − 3 of a number for each column k. */
const makeWindows = (program: WordLine, b: readonly Word[], columnCount: number): Word[] => {
  // reverse the bytes of each word: swap halves, then the bytes of each half
  const turned = b.map((word, i) => {
    const pairs = program.let(`pairs${i}`, joined(above(word, 16), left(word, 16)));
    return program.let(`turned${i}`, joined(masked(above(pairs, 8), 0x00ff00ff), left(masked(pairs, 0x00ff00ff), 8)));
  });
  return range(columnCount).map((k) => {
    const [word, shift] = [Math.floor(k / 4), 8 * (3 - (k % 4))];
    const [here, below] = [turned[word] ?? number(0), turned[word - 1] ?? number(0)];
    return program.let(`window${k}`, shift === 0 ? here : joined(above(here, shift), left(below, 32 - shift)));
  });
};

/**
 * Makes the product a·b/R, below 2p for a and b below 2p, because R ≥ 4p. A row multiplies a word
 * of a, four bytes, by all of b: column k of the row is Σ a_i·b_(k − i), i = 0 … 3, which is one
 * dot product with the *window* of the bytes k … k − 3 of b, in this order. The windows of b are
 * made once, one for each column: every fourth is a word of b with its bytes reversed, and those
 * between are cut out of two of these. The windows of p are constants.
 *
 * Montgomery's digit is a word, and reduces as in src/field/product-unsigned.ts.
 *
 * Bounds. A column takes in two dot products a row, each at most 4·255² < 2^18: less than 2^22.7
 * for the 13 words of 414 bits. A column plus 2^8 times the next one and a carry is below 2^31.
 */
export const dot4Product = (m: Modulus): WordProgram => {
  const program = new WordLine();
  const words = lazyLimbs(m, 32);
  // a row reaches three columns beyond the bytes of b
  const columnCount = 4 * words + 3;
  const [a, b] = ['a', 'b'].map((name) => range(words).map((i) => input(`${name}.w${i}`))) as [Word[], Word[]];
  const windows = makeWindows(program, b, columnCount);

  const n0 = montgomeryFactor(m.p, 32);
  const p = digitsOf(m.p, 8, 4 * words);
  const multiple = digitsOf((m.p * n0 + 1n) >> 32n, 8, 4 * words);

  /** Returns the word of four columns and a carry, and the carry out of it. */
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
      // modulo 2^32, so higher columns do not matter
      const [c0, c1, c2, c3] = whole as [Word, Word, Word, Word];
      const u = program.let(`u${i}`, sumLow(c0, left(c1, 8), left(c2, 16), left(c3, 24)));
      const q = program.let(`q${i}`, timesLow(u, number(Number(n0))));
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
