/**
 * Montgomery products of numbers in words, split into limbs of 24 bits, with floats for the high
 * halves of the products of limbs. Floats are fast where a multiplication of 32 bits is slow, as on
 * Apple's chips (docs/reference/chips.md).
 */
import { type Factor, FloatColumns, knownFactor } from './float-columns.js';
import { digitsOf, FLOAT_LIMB_BITS, lazyLimbs, type Modulus, montgomeryFactor } from './modulus.js';
import { roughRows } from './product-unsigned.js';
import { range } from './straight-line.js';
import {
  input,
  limbsOfWords,
  low,
  number,
  timesLow,
  type Word,
  WordLine,
  type WordProgram,
  wordsOfLimbs,
} from './word-line.js';

const WIDTH = FLOAT_LIMB_BITS;

/** Returns the limbs of an operand. */
const operand = (m: Modulus, name: string): Word[] => {
  const [n, words] = [lazyLimbs(m, WIDTH), lazyLimbs(m, 32)];
  const given = range(words).map((i) => input(`${name}.w${i}`));
  const most = Number((2n * m.p - 1n) >> BigInt(WIDTH * (n - 1)));
  return limbsOfWords(given, WIDTH, n).map((limb, i) => (i < n - 1 ? limb : { ...limb, most }));
};

/**
 * Makes the product a·b/R, below 2p for a and b below 2p, because R ≥ 4p. Rows and Montgomery's
 * digits are those of src/field/product-unsigned.ts; src/field/float-columns.ts has the columns and
 * their bounds. The longest field, of 414 bits, has 36 products a column, which fill a word.
 */
export const fmaProduct = (m: Modulus): WordProgram => {
  const program = new WordLine();
  const columns = new FloatColumns(program);
  const n = lazyLimbs(m, WIDTH);
  const a = operand(m, 'a');
  const b = operand(m, 'b').map((limb, k) => columns.factor(`b${k}`, limb));
  const n0 = montgomeryFactor(m.p, WIDTH);
  const p = digitsOf(m.p, WIDTH, n).map(knownFactor);
  const multiple = [0, ...digitsOf((m.p * n0 + 1n) >> BigInt(WIDTH), WIDTH, n)].map(knownFactor);

  for (const i of range(n)) {
    const own = columns.factor(`a${i}`, a[i] as Word);
    columns.add(i, `${i}_0`, [[own, b[0] as Factor]]);
    columns.gather(i);
    const rough = i < roughRows(m, n);
    const digit = columns.digit(i);
    const reduced = (): Word => low(timesLow(program.let(`u${i}`, digit), number(Number(n0))), WIDTH);
    const q = columns.factor(`q${i}`, rough ? digit : reduced());
    if (!rough) columns.add(i, `${i}_q`, [[q, p[0] as Factor]]);
    columns.settle(i);
    for (const k of range(n + 1).slice(1)) {
      const [mine, theirs] = [b[k], (rough ? multiple : p)[k]];
      columns.add(i + k, `${i}_${k}`, [
        ...(mine === undefined ? [] : [[own, mine] as const]),
        ...(theirs === undefined ? [] : [[q, theirs] as const]),
      ]);
    }
  }
  const result = range(n).map((i) => {
    columns.gather(n + i);
    const limb = columns.settle(n + i, i === n - 1 ? Number((2n * m.p - 1n) >> BigInt(WIDTH * i)) : undefined);
    return program.let(`r${i}`, limb);
  });
  return { program, result: wordsOfLimbs(result, WIDTH, lazyLimbs(m, 32)) };
};
